package dev.idempotent.idempotency.method;

import java.util.function.Consumer;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.event.EventListener;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Annotated listeners of application events, within a transaction and after its commit.
 */
@ExtendWith(OutputCaptureExtension.class)
class AfterCommitTests {

	@Test
	void runsOncePerEventWithinTheTransaction() {
		run((context) -> {
			publishTwice(context, new Placed("1"));
			assertThat(context.getBean(Effects.class).committed()).containsExactly("1");
		});
	}

	@Test
	void runsOncePerEventAfterTheCommit() {
		run((context) -> {
			publishTwice(context, new Paid("1"));
			assertThat(context.getBean(Effects.class).runs()).isOne();
		});
	}

	@Test
	void runsOncePerEventInATransactionOfItsOwnAfterTheCommit() {
		run((context) -> {
			publishTwice(context, new Shipped("1"));
			assertThat(context.getBean(Effects.class).committed()).containsExactly("1");
			assertThat(context.getBean(Effects.class).records()).isOne();
		});
	}

	@Test
	void refusesToRecordInATransactionThatHasEnded(CapturedOutput output) {
		run((context) -> {
			publishTwice(context, new Returned("1"));
			assertThat(context.getBean(Effects.class).runs()).isZero();
			assertThat(output).contains("a transaction that has already been committed");
			context.getBean(Listener.class).returned(new Returned("1"));
			assertThat(context.getBean(Effects.class).committed()).containsExactly("1");
		});
	}

	private static void publishTwice(AssertableApplicationContext context, Object event) {
		for (int i = 0; i < 2; i++) {
			context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> context.publishEvent(event));
		}
	}

	private static void run(Consumer<AssertableApplicationContext> test) {
		MethodApplication.with(Listener.class).run(test::accept);
	}

	record Placed(String id) {
	}

	record Paid(String id) {
	}

	record Shipped(String id) {
	}

	record Returned(String id) {
	}

	static class Listener {

		private final Effects effects;

		Listener(Effects effects) {
			this.effects = effects;
		}

		@EventListener
		@Idempotent(key = "#event.id", guarantee = Guarantee.TRANSACTION, name = "listener.placed")
		public void placed(Placed event) {
			this.effects.add(event.id());
		}

		@TransactionalEventListener
		@Idempotent(key = "#event.id", name = "listener.paid")
		public void paid(Paid event) {
			this.effects.add(event.id());
		}

		@TransactionalEventListener
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@Idempotent(key = "#event.id", guarantee = Guarantee.TRANSACTION, name = "listener.shipped")
		public void shipped(Shipped event) {
			this.effects.add(event.id());
		}

		@TransactionalEventListener
		@Idempotent(key = "#event.id", guarantee = Guarantee.TRANSACTION, name = "listener.returned")
		public void returned(Returned event) {
			this.effects.add(event.id());
		}

	}

}
