package dev.idempotent.outbox.transaction;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import javax.sql.DataSource;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.testing.BrokerTransactionManager;
import dev.idempotent.transaction.ObservedTransaction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Events of transactions around and within each other, and what these leave behind.
 */
class SurroundingOutboxTransactionsTests {

	@Test
	void leaveNothingBehind() {
		run((context) -> {
			PlatformTransactionManager manager = manager(context);
			List<WeakReference<Object>> seen = new ArrayList<>();
			for (int i = 0; i < 200; i++) {
				in(manager, () -> remember(context, seen));
				in(manager, () -> {
					append(context, "order");
					remember(context, seen);
				});
				in(manager, () -> {
					remember(context, seen);
					inNew(manager, () -> remember(context, seen));
				});
				assertThatIllegalStateException().isThrownBy(() -> in(manager, () -> {
					append(context, "lost");
					remember(context, seen);
					throw new IllegalStateException("The transaction fails");
				}));
			}
			assertThat(seen).hasSize(2000);
			await().untilAsserted(() -> {
				System.gc();
				assertThat(seen).allMatch((each) -> each.get() == null);
			});
		});
	}

	@ParameterizedTest
	@ValueSource(ints = { Ordered.HIGHEST_PRECEDENCE, 0 })
	void keepTheFirstEventOfAPriorityCallbackBeforeTheCommit(int order) {
		run((context) -> {
			in(manager(context), () -> {
				database(context).update("insert into work values ('order')");
				TransactionSynchronizationManager
					.registerSynchronization(new Priority(order, () -> append(context, "order.placed")));
			});
			assertThat(work(context)).containsExactly("order");
			assertThat(events(context)).containsExactly("order.placed");
		});
	}

	@Test
	void keepTheEventsOfTheOuterTransactionIfAnUnknownInnerOneFails() {
		run((context) -> {
			in(manager(context), () -> {
				database(context).update("insert into work values ('order')");
				append(context, "order.placed");
				assertThatIllegalStateException().isThrownBy(() -> in(new BrokerTransactionManager(), () -> {
					TransactionSynchronizationManager.registerSynchronization(new Priority(0, () -> {
						throw new IllegalStateException("The inner transaction fails");
					}));
				})).withMessage("The inner transaction fails");
			});
			assertThat(work(context)).containsExactly("order");
			assertThat(events(context)).containsExactly("order.placed");
		});
	}

	@Test
	void keepTheEventsOfTheOuterTransactionIfAnInnerOneDoesNotBegin() {
		run((context) -> {
			AtomicBoolean fails = new AtomicBoolean();
			JdbcTransactionManager manager = (JdbcTransactionManager) manager(context);
			manager.addListener(new TransactionExecutionListener() {

				@Override
				public void beforeBegin(TransactionExecution transaction) {
					if (fails.getAndSet(false)) {
						throw new IllegalStateException("A listener fails");
					}
				}

			});
			List<String> told = new ArrayList<>();
			in(context.getBean("second", PlatformTransactionManager.class), () -> in(manager, () -> {
				afterCommit(() -> told.add("the callback"));
				append(context, "before");
				fails.set(true);
				assertThatIllegalStateException().isThrownBy(() -> inNew(manager, () -> {
				})).withMessage("A listener fails");
				append(context, "after");
			}));
			assertThat(told).containsExactly("the callback");
			assertThat(events(context)).containsExactly("before", "after");
		});
	}

	@Test
	void keepTheEventsOfTheOuterTransactionIfTheInnerOneLosesItsCallbacks() {
		run((context) -> {
			List<String> told = new ArrayList<>();
			in(manager(context), () -> {
				afterCommit(() -> told.add("the callback"));
				append(context, "before");
				assertThatIllegalStateException().isThrownBy(() -> inNew(manager(context), () -> {
					append(context, "inner");
					TransactionSynchronizationManager.clearSynchronization();
				}));
				append(context, "after");
			});
			assertThat(told).containsExactly("the callback");
			assertThat(events(context)).containsExactly("before", "after");
		});
	}

	private static void remember(ConfigurableApplicationContext context, List<WeakReference<Object>> seen) {
		ObservedTransaction transaction = ObservedTransaction.bound();
		Object connection = TransactionSynchronizationManager.getResource(context.getBean(DataSource.class));
		assertThat(transaction).isNotNull();
		assertThat(connection).isNotNull();
		seen.add(new WeakReference<>(transaction));
		seen.add(new WeakReference<>(connection));
	}

	private static void append(ConfigurableApplicationContext context, String type) {
		context.getBean(Outbox.class).append(OutboxEvent.of(type, 1));
	}

	private static void afterCommit(Runnable work) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				work.run();
			}

		});
	}

	private static void in(PlatformTransactionManager manager, Runnable work) {
		new TransactionTemplate(manager).executeWithoutResult((status) -> work.run());
	}

	private static void inNew(PlatformTransactionManager manager, Runnable work) {
		TransactionTemplate template = new TransactionTemplate(manager);
		template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		template.executeWithoutResult((status) -> work.run());
	}

	private static PlatformTransactionManager manager(ConfigurableApplicationContext context) {
		return context.getBean("transactionManager", PlatformTransactionManager.class);
	}

	private static List<String> events(ConfigurableApplicationContext context) {
		return database(context).queryForList("select type from outbox_event order by id", String.class);
	}

	private static List<String> work(ConfigurableApplicationContext context) {
		return database(context).queryForList("select what from work", String.class);
	}

	private static JdbcTemplate database(ConfigurableApplicationContext context) {
		return context.getBean(JdbcTemplate.class);
	}

	private static void run(Consumer<ConfigurableApplicationContext> test) {
		try (ConfigurableApplicationContext context = OutboxApplication
			.start(List.of("idempotent.outbox.relay.enabled=false"), Managers.class)) {
			database(context).execute("create table work (what varchar(100))");
			test.accept(context);
		}
	}

	private record Priority(int order, Runnable work) implements TransactionSynchronization, PriorityOrdered {

		@Override
		public int getOrder() {
			return this.order;
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			this.work.run();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Managers {

		@Bean
		@Primary
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean(defaultCandidate = false)
		JdbcTransactionManager second() {
			return new JdbcTransactionManager(
					new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2).generateUniqueName(true).build());
		}

	}

}
