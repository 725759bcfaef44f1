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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.access.prepost.PostAuthorize;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Method security decides on each call, whether it runs the method or replays its result.
 */
class SecurityPlacementTests {

	@AfterEach
	void signOut() {
		SecurityContextHolder.clearContext();
	}

	static Stream<Arguments> applications() {
		Stream<List<Class<?>>> applications = Stream.of(List.of(), List.of(AdvisedApplications.EarlyTransactions.class),
				List.of(AdvisedApplications.FirstTransactions.class), List.of(AdvisedApplications.InnerAspect.class));
		return applications.flatMap((more) -> Stream.of(Guarantee.LEASE, Guarantee.TRANSACTION)
			.map((guarantee) -> Arguments.of(more, guarantee)));
	}

	@ParameterizedTest
	@MethodSource("applications")
	void aDeniedCallHasNoEffect(List<Class<?>> more, Guarantee guarantee) {
		application(Secured.class, more).run((context) -> {
			signIn("stranger");
			Shop shop = context.getBean(Shop.class);
			assertThatExceptionOfType(AccessDeniedException.class)
				.isThrownBy(() -> Shop.call(shop, guarantee, new Shop.Order("1")));
			assertThat(context.getBean(ProbedStore.class).claims()).isEmpty();
			assertThat(context.getBean(Effects.class).records()).isZero();
			assertThat(context.getBean(Effects.class).runs()).isZero();
		});
	}

	@ParameterizedTest
	@MethodSource("applications")
	void replaysOnlyForAuthorizedCallers(List<Class<?>> more, Guarantee guarantee) {
		application(Secured.class, more).run((context) -> {
			signIn("customer");
			Shop shop = context.getBean(Shop.class);
			Shop.Receipt first = Shop.call(shop, guarantee, new Shop.Order("1"));
			assertThat(Shop.call(shop, guarantee, new Shop.Order("1"))).isEqualTo(first);
			assertThat(context.getBean(Outside.class).effects()).containsExactly("1");
			signIn("stranger");
			assertThatExceptionOfType(AccessDeniedException.class)
				.isThrownBy(() -> Shop.call(shop, guarantee, new Shop.Order("1")));
			assertThat(context.getBean(ProbedStore.class).claims()).hasSize(2);
		});
	}

	@ParameterizedTest
	@MethodSource("applications")
	void replaysOnlyForCallersWhoMaySeeTheResult(List<Class<?>> more, Guarantee guarantee) {
		application(SecuredResult.class, more).run((context) -> {
			signIn("customer");
			Shop shop = context.getBean(Shop.class);
			Shop.call(shop, guarantee, new Shop.Order("1"));
			signIn("stranger");
			assertThatExceptionOfType(AccessDeniedException.class)
				.isThrownBy(() -> Shop.call(shop, guarantee, new Shop.Order("1")));
			assertThat(context.getBean(Effects.class).runs()).isOne();
		});
	}

	private static ApplicationContextRunner application(Class<?> shop, List<Class<?>> more) {
		return PlacementApplication.with(shop, AdvisedApplications.Security.class)
			.withUserConfiguration(more.toArray(Class<?>[]::new));
	}

	private static void signIn(String role) {
		SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("user", "", role));
	}

	static class Secured implements Shop {

		private final Work work;

		Secured(Work work) {
			this.work = work;
		}

		@Override
		@Transactional
		@PreAuthorize("hasAuthority('customer')")
		@Idempotent(key = "#order.id", name = "secured.order")
		public Receipt order(Order order) {
			return this.work.run(order);
		}

		@Override
		@Transactional
		@PreAuthorize("hasAuthority('customer')")
		@Idempotent(key = "#order.id", guarantee = Guarantee.TRANSACTION, name = "secured.book")
		public Receipt book(Order order) {
			return this.work.run(order);
		}

	}

	static class SecuredResult implements Shop {

		private final Work work;

		SecuredResult(Work work) {
			this.work = work;
		}

		@Override
		@Transactional
		@PostAuthorize("hasAuthority('customer') and returnObject.number == 1")
		@Idempotent(key = "#order.id", name = "secured-result.order")
		public Receipt order(Order order) {
			return this.work.run(order);
		}

		@Override
		@Transactional
		@PostAuthorize("hasAuthority('customer') and returnObject.number == 1")
		@Idempotent(key = "#order.id", guarantee = Guarantee.TRANSACTION, name = "secured-result.book")
		public Receipt book(Order order) {
			return this.work.run(order);
		}

	}

}
