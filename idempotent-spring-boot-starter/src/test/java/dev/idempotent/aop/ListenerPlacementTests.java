package dev.idempotent.aop;

import java.util.concurrent.TimeUnit;

import dev.idempotent.aop.PlacementApplication.Outside;
import dev.idempotent.aop.PlacementApplication.ProbedStore;
import dev.idempotent.aop.PlacementApplication.Shop;
import dev.idempotent.aop.PlacementApplication.Work;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.method.Effects;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Containers call annotated methods through their advice.
 */
@ExtendWith(OutputCaptureExtension.class)
class ListenerPlacementTests {

	@Test
	void listenersOfEventsRunOncePerKey() {
		PlacementApplication.with(Listener.class).run((context) -> {
			context.publishEvent(new Shop.Order("1"));
			context.publishEvent(new Shop.Order("1"));
			assertThat(context.getBean(Effects.class).committed()).containsExactlyInAnyOrder("1", "lease 1");
			assertThat(context.getBean(Outside.class).records()).isOne();
		});
	}

	@Test
	void listenersAfterTheCommitRunOncePerKey() {
		PlacementApplication.with(LateListener.class).run((context) -> {
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			for (int i = 0; i < 2; i++) {
				transaction.executeWithoutResult((status) -> context.publishEvent(new Shop.Order("1")));
			}
			assertThat(context.getBean(Outside.class).effects()).containsExactlyInAnyOrder("1", "lease 1");
			assertThat(context.getBean(Outside.class).records()).isOne();
		});
	}

	@Test
	void scheduledMethodsRunOncePerKey() {
		PlacementApplication.with(Scheduling.class, Nightly.class).run((context) -> {
			ProbedStore store = context.getBean(ProbedStore.class);
			Awaitility.await().until(() -> store.claims().size() >= 5);
			assertThat(context.getBean(Outside.class).effects()).containsExactlyInAnyOrder("night", "lease night");
		});
	}

	@Test
	void warnsOfAScheduledMethodInACircularReference(CapturedOutput output) {
		PlacementApplication.with(Scheduling.class, Circular.class)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce(Circular.class.getName() + ".run() is called by its container");
	}

	@Test
	void doesNotWarnOfAScheduledMethodOutsideACircularReference(CapturedOutput output) {
		PlacementApplication.with(Scheduling.class, Nightly.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("is called by its container");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Scheduling {

	}

	static class Listener {

		private final Work work;

		Listener(Work work) {
			this.work = work;
		}

		@EventListener
		@Idempotent(key = "#order.id", name = "listener.on")
		void on(Shop.Order order) {
			this.work.run(new Shop.Order("lease " + order.id()));
		}

		@EventListener
		@Idempotent(key = "#order.id", guarantee = Guarantee.TRANSACTION, name = "listener.on-in-transaction")
		void onInTransaction(Shop.Order order) {
			this.work.run(order);
		}

	}

	static class LateListener {

		private final Work work;

		LateListener(Work work) {
			this.work = work;
		}

		@TransactionalEventListener
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@Idempotent(key = "#order.id", name = "late-listener.on")
		void on(Shop.Order order) {
			this.work.run(new Shop.Order("lease " + order.id()));
		}

		@TransactionalEventListener
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@Idempotent(key = "#order.id", guarantee = Guarantee.TRANSACTION, name = "late-listener.on-in-transaction")
		void onInTransaction(Shop.Order order) {
			this.work.run(order);
		}

	}

	static class Nightly {

		private final Work work;

		Nightly(Work work) {
			this.work = work;
		}

		@Scheduled(fixedDelay = 5, timeUnit = TimeUnit.MILLISECONDS)
		@Idempotent(key = "'night'", name = "nightly.run")
		void run() {
			this.work.run(new Shop.Order("lease night"));
		}

		@Scheduled(fixedDelay = 5, timeUnit = TimeUnit.MILLISECONDS)
		@Idempotent(key = "'night'", guarantee = Guarantee.TRANSACTION, name = "nightly.run-in-transaction")
		void runInTransaction() {
			this.work.run(new Shop.Order("night"));
		}

	}

	static class Circular {

		private final Work work;

		@Autowired
		@SuppressWarnings("NullAway.Init")
		private Circular self;

		Circular(Work work) {
			this.work = work;
		}

		@Scheduled(fixedDelay = 1, timeUnit = TimeUnit.HOURS)
		@Idempotent(key = "'night'", name = "circular.run")
		void run() {
			this.work.run(new Shop.Order("night"));
		}

		Circular throughItself() {
			return this.self;
		}

	}

}
