package dev.idempotent.idempotency.method;

import java.math.BigDecimal;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;

import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.idempotency.IdempotencyMismatchException;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealRedis;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A call that the last release has done is called again in the next one, on the same
 * Redis.
 */
@SuppressWarnings({ "SameNameButDifferent", "ArrayRecordComponent" }) // Each release has
																		// an Order.
class DeploymentsIntegrationTests {

	private static final AtomicBoolean RUN = new AtomicBoolean();

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final String id = UUID.randomUUID().toString();

	private final String namespace = "shop-" + this.id;

	static Stream<Change<?>> changes() {
		return Stream.of(
				new Change<>("renamed", Renamed.class, (next, id) -> next.submit(new Command(id, 5)), Outcome.REPLAYED),
				new Change<>("another application name", Release.class, (next, id) -> next.place(new Order(id, 5)),
						Outcome.REPLAYED, "spring.application.name=other"),
				new Change<>("a parameter at the end", OneMoreParameter.class,
						(next, id) -> next.place(new Order(id, 5), null, false), Outcome.REPLAYED),
				new Change<>("a parameter at the end that is used", OneMoreParameter.class,
						(next, id) -> next.place(new Order(id, 5), "gift", false), Outcome.MISMATCHED),
				new Change<>("optional members", OneMoreMember.class,
						(next, id) -> next.place(new OneMoreMember.Order(false, id, null, 5)), Outcome.REPLAYED),
				new Change<>("an optional member that is used", OneMoreMember.class,
						(next, id) -> next.place(new OneMoreMember.Order(true, id, null, 5)), Outcome.MISMATCHED),
				new Change<>("another type of a number", OtherNumber.class,
						(next, id) -> next.place(new OtherNumber.Order(id, new BigDecimal("5.00"))), Outcome.REPLAYED),
				new Change<>("a renamed member", RenamedMember.class,
						(next, id) -> next.place(new RenamedMember.Order(id, 5)), Outcome.MISMATCHED),
				new Change<>("an entry of ignore", OneMoreIgnored.class, (next, id) -> next.place(new Order(id, 5)),
						Outcome.MISMATCHED),
				new Change<>("another type of zero", OtherNumber.class,
						(next, id) -> next.place(new OtherNumber.Order(id, BigDecimal.ZERO)), Outcome.MISMATCHED),
				new Change<>("another namespace", Release.class, (next, id) -> next.place(new Order(id, 5)),
						Outcome.RUN, "idempotent.namespace=other"),
				new Change<>("another prefix", Release.class, (next, id) -> next.place(new Order(id, 5)), Outcome.RUN,
						"idempotent.redis.key-prefix=other:"),
				new Change<>("another result", OtherResult.class,
						(next, id) -> String.valueOf(next.place(new Order(id, 5))), Outcome.REFUSED),
				new Change<>("another key", OtherKey.class, (next, id) -> next.place(new Order(id, 5)), Outcome.RUN),
				new Change<>("another name", OtherName.class, (next, id) -> next.place(new Order(id, 5)), Outcome.RUN));
	}

	@ParameterizedTest
	@MethodSource("changes")
	void haveTheEffectThatThePageTells(Change<?> change) {
		assertThat(outcome(Release.class, (last) -> last.place(new Order(this.id, 5)))).isEqualTo(Outcome.RUN);
		assertThat(outcome(Release.class, (last) -> last.place(new Order(this.id, 5)))).isEqualTo(Outcome.REPLAYED);
		assertThat(change.deploy(this)).isEqualTo(change.outcome());
	}

	private <T> Outcome outcome(Class<T> release, Function<T, String> call, String... properties) {
		Outcome[] outcome = new Outcome[1];
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DataRedisAutoConfiguration.class,
					IdempotencyAutoConfiguration.class, ImportMethods.CLASS))
			.withPropertyValues(redis.properties().toArray(String[]::new))
			.withPropertyValues("idempotent.namespace=" + this.namespace, "idempotent.redis.timeout=10s",
					"spring.application.name=shop")
			.withPropertyValues(properties)
			.withUserConfiguration(release)
			.run((context) -> outcome[0] = outcome(call, context.getBean(release)));
		return outcome[0];
	}

	private static <T> Outcome outcome(Function<T, String> call, T release) {
		RUN.set(false);
		try {
			String unused = call.apply(release);
			return RUN.get() ? Outcome.RUN : Outcome.REPLAYED;
		}
		catch (IdempotencyMismatchException ex) {
			return RUN.get() ? Outcome.RUN : Outcome.MISMATCHED;
		}
		catch (IdempotencyResultException ex) {
			return RUN.get() ? Outcome.RUN : Outcome.REFUSED;
		}
	}

	private static String run(String result) {
		RUN.set(true);
		return result;
	}

	enum Outcome {

		RUN, REPLAYED, MISMATCHED, REFUSED

	}

	/**
	 * A change that the next release makes.
	 */
	record Change<T>(String what, Class<T> next, BiFunction<T, String, String> call, Outcome outcome,
			String... properties) {

		Outcome deploy(DeploymentsIntegrationTests test) {
			return test.outcome(this.next, (release) -> this.call.apply(release, test.id), this.properties);
		}

		@Override
		public String toString() {
			return this.what;
		}

	}

	record Order(String id, int amount) {
	}

	record Command(String id, int amount) {
	}

	static class Release {

		@Idempotent(name = "place", key = "#order.id")
		public String place(Order order) {
			return run("placed");
		}

	}

	static class Renamed {

		@Idempotent(name = "place", key = "#command.id")
		public String submit(Command command) {
			return run("placed");
		}

	}

	static class OneMoreParameter {

		@Idempotent(name = "place", key = "#order.id")
		public String place(Order order, @Nullable String note, boolean express) {
			return run("placed");
		}

	}

	static class OneMoreMember {

		@Idempotent(name = "place", key = "#order.id")
		public String place(Order order) {
			return run("placed");
		}

		record Order(boolean express, String id, @Nullable List<String> notes, int amount) {
		}

	}

	static class OtherNumber {

		@Idempotent(name = "place", key = "#order.id")
		public String place(Order order) {
			return run("placed");
		}

		record Order(String id, BigDecimal amount) {
		}

	}

	static class RenamedMember {

		@Idempotent(name = "place", key = "#order.id")
		public String place(Order order) {
			return run("placed");
		}

		record Order(String id, int quantity) {
		}

	}

	static class OneMoreIgnored {

		@Idempotent(name = "place", key = "#order.id", ignore = "/order/amount")
		public String place(Order order) {
			return run("placed");
		}

	}

	static class OtherResult {

		@Idempotent(name = "place", key = "#order.id")
		public int place(Order order) {
			return run("placed").length();
		}

	}

	static class OtherKey {

		@Idempotent(name = "place", key = "'order-' + #order.id")
		public String place(Order order) {
			return run("placed");
		}

	}

	static class OtherName {

		@Idempotent(name = "place-order", key = "#order.id")
		public String place(Order order) {
			return run("placed");
		}

	}

}
