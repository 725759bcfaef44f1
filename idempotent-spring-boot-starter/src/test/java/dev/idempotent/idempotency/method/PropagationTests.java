package dev.idempotent.idempotency.method;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Methods under a lease with a propagation of their own {@code @Transactional}: the key
 * is settled as their work is.
 */
class PropagationTests {

	@ParameterizedTest
	@ValueSource(strings = { "requires-new", "not-supported", "class", "interface", "composed" })
	void storesTheResultOfIndependentWorkEvenIfTheCallerRollsBack(String how) {
		run((orders, context) -> {
			inATransactionThatRollsBack(context, () -> assertThat(orders.place(how, "k")).isEqualTo(1));
			assertThat(context.getBean(Effects.class).committed()).containsExactly("k");
			assertThat(orders.place(how, "k")).isEqualTo(1);
			assertThat(context.getBean(Effects.class).committed()).containsExactly("k");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "required", "nested", "supports", "mandatory", "none" })
	void runsAgainWhenTheCallerHasRolledTheWorkBack(String how) {
		run((orders, context) -> {
			inATransactionThatRollsBack(context, () -> assertThat(orders.place(how, "k")).isEqualTo(1));
			assertThat(context.getBean(Effects.class).committed()).isEmpty();
			inATransaction(context, () -> assertThat(orders.place(how, "k")).isEqualTo(2));
			assertThat(context.getBean(Effects.class).committed()).containsExactly("k");
		});
	}

	@Test
	void releasesTheKeyOfAFailedNestedMethodAtOnce() {
		run((orders, context) -> {
			inATransaction(context, () -> {
				assertThatIllegalArgumentException().isThrownBy(() -> orders.place("nested", "bad"));
				assertThatIllegalArgumentException().isThrownBy(() -> orders.place("nested", "bad"));
				orders.place("nested", "k");
			});
			assertThat(context.getBean(Effects.class).committed()).containsExactly("k");
			assertThat(context.getBean(Effects.class).runs()).isEqualTo(3);
		});
	}

	@Test
	void releasesTheKeyOfAMethodThatRefusesTheCallersTransaction() {
		run((orders, context) -> {
			inATransaction(context, () -> assertThatExceptionOfType(IllegalTransactionStateException.class)
				.isThrownBy(() -> orders.place("never", "k")));
			assertThat(orders.place("never", "k")).isEqualTo(1);
		});
	}

	private static void inATransaction(AssertableApplicationContext context, Runnable work) {
		context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> work.run());
	}

	private static void inATransactionThatRollsBack(AssertableApplicationContext context, Runnable work) {
		context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
			work.run();
			status.setRollbackOnly();
		});
	}

	private static void run(BiConsumer<Orders, AssertableApplicationContext> test) {
		Consumer<AssertableApplicationContext> onOrders = (context) -> test.accept(new Orders(context), context);
		MethodApplication.with(ByMethod.class, ByClass.class, Interfaced.class).run(onOrders::accept);
	}

	private record Orders(AssertableApplicationContext context) {

		int place(String how, String id) {
			ByMethod methods = this.context.getBean(ByMethod.class);
			return switch (how) {
				case "requires-new" -> methods.requiresNew(id);
				case "not-supported" -> methods.notSupported(id);
				case "composed" -> methods.composed(id);
				case "never" -> methods.never(id);
				case "nested" -> methods.nested(id);
				case "supports" -> methods.supports(id);
				case "mandatory" -> methods.mandatory(id);
				case "required" -> methods.required(id);
				case "none" -> methods.none(id);
				case "class" -> this.context.getBean(ByClass.class).place(id);
				case "interface" -> this.context.getBean(ByInterface.class).place(id);
				default -> throw new IllegalArgumentException(how);
			};
		}

	}

	static class ByMethod {

		private final Effects effects;

		ByMethod(Effects effects) {
			this.effects = effects;
		}

		@Idempotent(key = "#id", name = "by-method.requires-new")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public int requiresNew(String id) {
			return place(id);
		}

		@Idempotent(key = "#id", name = "by-method.not-supported")
		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		public int notSupported(String id) {
			return place(id);
		}

		@Idempotent(key = "#id", name = "by-method.composed")
		@Apart
		public int composed(String id) {
			return place(id);
		}

		@Idempotent(key = "#id", name = "by-method.never")
		@Transactional(propagation = Propagation.NEVER)
		public int never(String id) {
			return place(id);
		}

		@Idempotent(key = "#id", name = "by-method.nested")
		@Transactional(propagation = Propagation.NESTED)
		public int nested(String id) {
			return place(id);
		}

		@Idempotent(key = "#id", name = "by-method.supports")
		@Transactional(propagation = Propagation.SUPPORTS)
		public int supports(String id) {
			return place(id);
		}

		@Idempotent(key = "#id", name = "by-method.mandatory")
		@Transactional(propagation = Propagation.MANDATORY)
		public int mandatory(String id) {
			return place(id);
		}

		@Idempotent(key = "#id", name = "by-method.required")
		@Transactional
		public int required(String id) {
			return place(id);
		}

		@Idempotent(key = "#id", name = "by-method.none")
		public int none(String id) {
			return place(id);
		}

		private int place(String id) {
			int run = this.effects.add(id);
			if (id.equals("bad")) {
				throw new IllegalArgumentException("This one fails");
			}
			return run;
		}

	}

	@Transactional(propagation = Propagation.REQUIRES_NEW)
	static class ByClass {

		private final Effects effects;

		ByClass(Effects effects) {
			this.effects = effects;
		}

		@Idempotent(key = "#id", name = "by-class.place")
		public int place(String id) {
			return this.effects.add(id);
		}

	}

	interface ByInterface {

		@Idempotent(key = "#id", name = "by-interface.place")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		int place(String id);

	}

	static class Interfaced implements ByInterface {

		private final Effects effects;

		Interfaced(Effects effects) {
			this.effects = effects;
		}

		@Override
		public int place(String id) {
			return this.effects.add(id);
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@Transactional(propagation = Propagation.REQUIRES_NEW)
	@interface Apart {

	}

}
