package dev.idempotent.aop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import dev.idempotent.aop.PlacementApplication.Outside;
import dev.idempotent.aop.PlacementApplication.ProbedStore;
import dev.idempotent.aop.PlacementApplication.Shop.Order;
import dev.idempotent.aop.PlacementApplication.Shop.Receipt;
import dev.idempotent.aop.PlacementApplication.Work;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.method.Effects;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Advice applies on the thread that runs an asynchronous method.
 */
class AsyncPlacementTests {

	@ParameterizedTest
	@ValueSource(classes = { AdvisedApplications.Threads.class, AdvisedApplications.EarlyThreads.class })
	void claimsALeaseOnTheOtherThreadAndStoresTheResultOfTheFuture(Class<?> threads) {
		PlacementApplication.with(AsyncShop.class, Executor.class, threads).run((context) -> {
			AsyncShop shop = context.getBean(AsyncShop.class);
			CompletableFuture<Receipt> first = shop.order(new Order("1"));
			ProbedStore store = context.getBean(ProbedStore.class);
			Awaitility.await().until(() -> context.getBean(Effects.class).committed().contains("1"));
			assertThat(store.claims()).singleElement().asString().startsWith("other-");
			assertThat(store.completions()).isEmpty();
			shop.gate().complete(new Receipt(7));
			assertThat(first.get()).isEqualTo(new Receipt(7));
			assertThat(store.completions()).hasSize(1);
			assertThat(shop.order(new Order("1")).get()).isEqualTo(new Receipt(7));
			assertThat(context.getBean(Effects.class).runs()).isOne();
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { AdvisedApplications.Threads.class, AdvisedApplications.EarlyThreads.class })
	void releasesALeaseWhenTheFutureFails(Class<?> threads) {
		PlacementApplication.with(AsyncShop.class, Executor.class, threads).run((context) -> {
			AsyncShop shop = context.getBean(AsyncShop.class);
			shop.gate().completeExceptionally(new IllegalStateException("This order fails"));
			for (int i = 0; i < 2; i++) {
				CompletableFuture<Receipt> failing = shop.order(new Order("1"));
				assertThatExceptionOfType(ExecutionException.class).isThrownBy(failing::get)
					.withCauseInstanceOf(IllegalStateException.class);
			}
			assertThat(context.getBean(ProbedStore.class).releases()).hasSize(2);
			assertThat(context.getBean(Effects.class).runs()).isEqualTo(2);
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { AdvisedApplications.Threads.class, AdvisedApplications.EarlyThreads.class })
	void runsInATransactionOfTheOtherThread(Class<?> threads) {
		PlacementApplication.with(AsyncShop.class, Executor.class, threads).run((context) -> {
			AsyncShop shop = context.getBean(AsyncShop.class);
			Outside outside = context.getBean(Outside.class);
			shop.book(new Order("1"));
			Awaitility.await().until(() -> outside.records() == 1);
			shop.book(new Order("1"));
			ProbedStore store = context.getBean(ProbedStore.class);
			Awaitility.await().until(() -> store.claims().size() == 2);
			Work.Seen seen = context.getBean(Work.class).seen().get(0);
			assertThat(seen.thread()).startsWith("other-");
			assertThat(seen.name()).endsWith("AsyncShop.book");
			assertThat(seen.records()).isOne();
			assertThat(seen.committedRecords()).isZero();
			assertThat(outside.effects()).containsExactly("1");
			assertThat(context.getBean(Effects.class).runs()).isOne();
		});
	}

	static class Executor {

		@Bean
		AsyncTaskExecutor taskExecutor() {
			return new SimpleAsyncTaskExecutor("other-");
		}

	}

	static class AsyncShop {

		private final Work work;

		private final CompletableFuture<Receipt> gate = new CompletableFuture<>();

		AsyncShop(Work work) {
			this.work = work;
		}

		CompletableFuture<Receipt> gate() {
			return this.gate;
		}

		@Async
		@Idempotent(key = "#order.id", name = "async-shop.order")
		public CompletableFuture<Receipt> order(Order order) {
			this.work.run(order);
			return this.gate;
		}

		@Async
		@Transactional
		@Idempotent(key = "#order.id", guarantee = Guarantee.TRANSACTION, name = "async-shop.book")
		public void book(Order order) {
			this.work.run(order);
		}

	}

}
