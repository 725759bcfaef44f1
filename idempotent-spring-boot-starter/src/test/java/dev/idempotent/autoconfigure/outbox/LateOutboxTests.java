package dev.idempotent.autoconfigure.outbox;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxTransactionException;
import dev.idempotent.outbox.RecordingPublisher;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for an outbox that is requested first when the application runs: in the middle of
 * transactions, after a commit, and in a transaction of another resource.
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

	@Test
	void refusesAnEventAfterTheCommit() {
		run((context) -> {
			transaction(context).executeWithoutResult((status) -> TransactionSynchronizationManager
				.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						assertThatExceptionOfType(OutboxTransactionException.class)
							.isThrownBy(() -> append(context, "late"));
					}

				}));
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void takesAnEventOfANewTransactionAfterTheCommit() {
		run((context) -> {
			TransactionTemplate another = transaction(context);
			another.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			transaction(context).executeWithoutResult((status) -> TransactionSynchronizationManager
				.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						assertThatExceptionOfType(OutboxTransactionException.class).isThrownBy(
								() -> transaction(context).executeWithoutResult((joined) -> append(context, "late")));
						another.executeWithoutResult((begun) -> append(context, "own"));
					}

				}));
			awaitDelivered(context, "own");
		});
	}

	@Test
	void takesAnEventOfTheFirstTransactionIfItBeginsAfterACommit() {
		run((context) -> {
			TransactionTemplate another = transaction(context);
			another.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			transaction(context).executeWithoutResult((status) -> TransactionSynchronizationManager
				.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						another.executeWithoutResult((begun) -> append(context, "own"));
					}

				}));
			awaitDelivered(context, "own");
		});
	}

	@Test
	void refusesATransactionOfAnotherResourceWhoseDatabaseConnectionCommitsByStatement() {
		run((context) -> {
			TransactionTemplate other = new TransactionTemplate(new OtherTransactions());
			other.executeWithoutResult((status) -> {
				new JdbcTemplate(context.getBean(DataSource.class)).queryForObject("select 1", Integer.class);
				assertThatExceptionOfType(OutboxTransactionException.class).isThrownBy(() -> append(context, "late"))
					.withMessageStartingWith("The transaction is not on the outbox's database");
			});
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void refusesATransactionOfAnotherResourceWhoseDatabaseConnectionIsNeverCommitted() {
		OnDemandApplication.with(ManualCommit.class).run((context) -> {
			TransactionTemplate other = new TransactionTemplate(new OtherTransactions());
			other.executeWithoutResult((status) -> {
				new JdbcTemplate(context.getBean(DataSource.class)).queryForObject("select 1", Integer.class);
				assertThatExceptionOfType(OutboxTransactionException.class).isThrownBy(() -> append(context, "lost"))
					.withMessageStartingWith("The transaction is not on the outbox's database");
			});
			transaction(context).executeWithoutResult((status) -> append(context, "kept"));
			awaitDelivered(context, "kept");
		});
	}

	private static void run(ContextConsumer<AssertableApplicationContext> work) {
		OnDemandApplication.with().run(work);
	}

	private static TransactionTemplate transaction(ApplicationContext context) {
		return new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
	}

	private static void append(ApplicationContext context, String type) {
		context.getBean(Outbox.class).append(OutboxEvent.of(type, 1));
	}

	private static void awaitDelivered(ApplicationContext context, String... types) {
		await().untilAsserted(
				() -> assertThat(context.getBean(RecordingPublisher.class).types()).containsExactlyInAnyOrder(types));
	}

	private static int pending(ApplicationContext context) {
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

	/**
	 * As does {@code spring.datasource.hikari.auto-commit=false}.
	 */
	@Configuration(proxyBeanMethods = false)
	static class ManualCommit {

		@Bean
		static BeanPostProcessor manualCommit() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String beanName) {
					return (bean instanceof DataSource dataSource) ? new ManualCommitDataSource(dataSource) : bean;
				}

			};
		}

	}

	private static final class ManualCommitDataSource extends DelegatingDataSource {

		ManualCommitDataSource(DataSource target) {
			super(target);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			connection.setAutoCommit(false);
			return connection;
		}

	}

	/**
	 * Transactions of a resource that has nothing to do with the database.
	 */
	private static final class OtherTransactions extends AbstractPlatformTransactionManager {

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
