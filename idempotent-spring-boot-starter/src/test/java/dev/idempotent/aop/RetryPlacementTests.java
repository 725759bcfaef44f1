package dev.idempotent.aop;

import java.util.List;
import java.util.stream.Stream;

import dev.idempotent.aop.PlacementApplication.Outside;
import dev.idempotent.aop.PlacementApplication.ProbedStore;
import dev.idempotent.aop.PlacementApplication.Shop;
import dev.idempotent.aop.PlacementApplication.Work;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.method.Effects;
import jakarta.validation.ConstraintViolationException;
import jakarta.validation.constraints.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.validation.annotation.Validated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Advice that repeats or rejects a call leaves the key to the next attempt.
 */
class RetryPlacementTests {

	static Stream<Arguments> applications() {
		Stream<List<Class<?>>> applications = Stream.of(List.of(AdvisedApplications.Retries.class),
				List.of(AdvisedApplications.EarlyRetries.class),
				List.of(AdvisedApplications.Retries.class, AdvisedApplications.EarlyTransactions.class));
		return applications.flatMap((more) -> Stream.of(Guarantee.LEASE, Guarantee.TRANSACTION)
			.map((guarantee) -> Arguments.of(more, guarantee)));
	}

	@ParameterizedTest
	@MethodSource("applications")
	void anAttemptThatFailsLeavesTheKeyToTheNext(List<Class<?>> more, Guarantee guarantee) {
		PlacementApplication.with(Flaky.class).withUserConfiguration(more.toArray(Class<?>[]::new)).run((context) -> {
			Shop shop = context.getBean(Shop.class);
			Shop.Receipt third = Shop.call(shop, guarantee, new Shop.Order("1"));
			assertThat(third.number()).isEqualTo(3);
			assertThat(context.getBean(ProbedStore.class).releases()).hasSize(2);
			assertThat(context.getBean(Outside.class).effects()).containsExactly("1");
			assertThat(Shop.call(shop, guarantee, new Shop.Order("1"))).isEqualTo(third);
			assertThat(context.getBean(Effects.class).runs()).isEqualTo(3);
		});
	}

	@ParameterizedTest
	@EnumSource(value = Guarantee.class, names = { "LEASE", "TRANSACTION" })
	void aCallWithWrongArgumentsLeavesTheKeyFree(Guarantee guarantee) {
		PlacementApplication.with(Strict.class, ValidationAutoConfiguration.class).run((context) -> {
			Strict shop = context.getBean(Strict.class);
			assertThatExceptionOfType(ConstraintViolationException.class)
				.isThrownBy(() -> shop.call(guarantee, "1", "many"));
			assertThat(context.getBean(Effects.class).runs()).isZero();
			assertThat(context.getBean(Outside.class).records()).isZero();
			shop.call(guarantee, "1", "2");
			assertThat(context.getBean(Outside.class).effects()).containsExactly("1");
		});
	}

	static class Flaky implements Shop {

		private final Work work;

		private final Effects effects;

		Flaky(Work work, Effects effects) {
			this.work = work;
			this.effects = effects;
		}

		@Override
		@Transactional
		@Retryable(maxRetries = 2, delay = 0)
		@Idempotent(key = "#order.id", name = "flaky.order")
		public Receipt order(Order order) {
			return thirdTimeLucky(order);
		}

		@Override
		@Transactional
		@Retryable(maxRetries = 2, delay = 0)
		@Idempotent(key = "#order.id", guarantee = Guarantee.TRANSACTION, name = "flaky.book")
		public Receipt book(Order order) {
			return thirdTimeLucky(order);
		}

		private Receipt thirdTimeLucky(Order order) {
			Receipt receipt = this.work.run(order);
			if (this.effects.runs() < 3) {
				throw new IllegalStateException("This attempt fails");
			}
			return receipt;
		}

	}

	@Validated
	static class Strict {

		private final Work work;

		Strict(Work work) {
			this.work = work;
		}

		final void call(Guarantee guarantee, String id, String amount) {
			if (guarantee == Guarantee.LEASE) {
				order(id, amount);
			}
			else {
				book(id, amount);
			}
		}

		@Transactional
		@Idempotent(key = "#id", name = "strict.order")
		public void order(String id, @Pattern(regexp = "[0-9]+") String amount) {
			this.work.run(new Shop.Order(id));
		}

		@Transactional
		@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "strict.book")
		public void book(String id, @Pattern(regexp = "[0-9]+") String amount) {
			this.work.run(new Shop.Order(id));
		}

	}

}
