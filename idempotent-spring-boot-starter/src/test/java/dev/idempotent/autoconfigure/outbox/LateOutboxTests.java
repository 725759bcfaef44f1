package dev.idempotent.autoconfigure.outbox;

import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.RecordingPublisher;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for an outbox that is requested first when the application runs, in the middle of
 * transactions.
 */
class LateOutboxTests {

	@Test
	void deliversAnEventOfTheTransactionThatRequestsIt() {
		run((context) -> {
			transaction(context).executeWithoutResult((status) -> append(context, "first"));
			awaitDelivered(context, "first");
			transaction(context).executeWithoutResult((status) -> append(context, "second"));
			awaitDelivered(context, "first", "second");
		});
	}

	@Test
	void worksThroughALazyProxy() {
		OnDemandApplication.with(LazyAppender.class).run((context) -> {
			transaction(context).executeWithoutResult(
					(status) -> context.getBean(Appender.class).outbox().append(OutboxEvent.of("lazy", 1)));
			awaitDelivered(context, "lazy");
		});
	}

	@Test
	void forgetsTheEventsOfATransactionThatIsRolledBack() {
		run((context) -> {
			transaction(context).executeWithoutResult((status) -> {
				append(context, "lost");
				status.setRollbackOnly();
			});
			assertThat(pending(context)).isZero();
			transaction(context).executeWithoutResult((status) -> append(context, "kept"));
			awaitDelivered(context, "kept");
		});
	}

	@Test
	void forgetsTheEventsSinceASavepoint() {
		run((context) -> {
			transaction(context).executeWithoutResult((status) -> {
				Object before = status.createSavepoint();
				append(context, "lost");
				status.rollbackToSavepoint(before);
				append(context, "kept");
				Object since = status.createSavepoint();
				append(context, "lost");
				status.rollbackToSavepoint(since);
			});
			awaitDelivered(context, "kept");
		});
	}

	@Test
	void takesTheEventsOfAllTransactionsThatHaveBegunBefore() {
		run((context) -> {
			int transactions = 8;
			CyclicBarrier begun = new CyclicBarrier(transactions);
			ExecutorService threads = Executors.newFixedThreadPool(transactions);
			try {
				List<? extends Future<?>> all = IntStream.range(0, transactions)
					.mapToObj((i) -> threads.submit(() -> transaction(context).execute((status) -> {
						awaitAll(begun);
						append(context, "each");
						return i;
					})))
					.toList();
				for (Future<?> each : all) {
					each.get();
				}
			}
			finally {
				threads.shutdown();
			}
			await().untilAsserted(
					() -> assertThat(context.getBean(RecordingPublisher.class).published()).hasSize(transactions));
		});
	}

	@Test
	void takesAnEventWhileTheCommitBegins() {
		run((context) -> {
			transaction(context).executeWithoutResult((status) -> TransactionSynchronizationManager
				.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void beforeCommit(boolean readOnly) {
						append(context, "late");
					}

				}));
			awaitDelivered(context, "late");
		});
	}

	@Test
	void takesEventsOfAChildContextWithATransactionManagerOfItsOwn() {
		run((context) -> {
			try (AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext()) {
				child.setParent(context.getSourceApplicationContext());
				child.registerBean("childTransactions", JdbcTransactionManager.class,
						() -> new JdbcTransactionManager(context.getBean(DataSource.class)));
				child.registerBean(Appender.class, () -> new Appender(context.getBean(Outbox.class)));
				child.refresh();
				TransactionTemplate transaction = new TransactionTemplate(
						child.getBean("childTransactions", PlatformTransactionManager.class));
				for (String type : List.of("first", "second")) {
					transaction.executeWithoutResult(
							(status) -> child.getBean(Appender.class).outbox().append(OutboxEvent.of(type, 1)));
				}
				awaitDelivered(context, "first", "second");
			}
		});
	}

	static void run(ContextConsumer<AssertableApplicationContext> work) {
		OnDemandApplication.with().run(work);
	}

	static TransactionTemplate transaction(ApplicationContext context) {
		return new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
	}

	static void append(ApplicationContext context, String type) {
		context.getBean(Outbox.class).append(OutboxEvent.of(type, 1));
	}

	static void awaitDelivered(ApplicationContext context, String... types) {
		await().untilAsserted(
				() -> assertThat(context.getBean(RecordingPublisher.class).types()).containsExactlyInAnyOrder(types));
	}

	static int pending(ApplicationContext context) {
		Integer rows = new JdbcTemplate(context.getBean(DataSource.class))
			.queryForObject("select count(*) from outbox_event", Integer.class);
		return (rows != null) ? rows : 0;
	}

	private static void awaitAll(CyclicBarrier barrier) {
		try {
			barrier.await();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class LazyAppender {

		@Bean
		Appender appender(@Lazy Outbox outbox) {
			return new Appender(outbox);
		}

	}

	record Appender(Outbox outbox) {

	}

}
