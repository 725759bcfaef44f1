package dev.idempotent.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import org.h2.Driver;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.withSettings;

/**
 * Tests for {@link TransactionWatch} beside listeners and synchronizations of others.
 */
class TransactionWatchTests {

	private final DataSource dataSource = h2();

	private final JdbcTransactionManager manager = new JdbcTransactionManager(this.dataSource);

	@AfterEach
	void leavesNothing() {
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
	}

	@Test
	void leavesReactiveManagersAlone() {
		ConfigurableTransactionManager reactive = mock(ConfigurableTransactionManager.class,
				withSettings().extraInterfaces(ReactiveTransactionManager.class));
		TransactionGuard.watch(reactive);
		then(reactive).shouldHaveNoInteractions();
	}

	/**
	 * It is synchronized with the transaction, and commits each statement by itself.
	 */
	@Test
	void doesNotTakeTheConnectionOfAnotherListenerForOneOfTheTransaction() {
		DataSource audits = h2();
		this.manager.addListener(new TransactionExecutionListener() {

			@Override
			public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
				new JdbcTemplate(audits).queryForList("select 1");
			}

		});
		TransactionGuard.watch(this.manager);
		new TransactionTemplate(this.manager).executeWithoutResult((status) -> {
			ObservedTransaction transaction = Objects.requireNonNull(ObservedTransaction.known());
			assertThat(transaction.commits(this.dataSource)).isTrue();
			assertThat(transaction.commits(audits)).isFalse();
			assertThat(TransactionGuard.isCurrent(audits)).isFalse();
		});
	}

	@Test
	void findsTheTransactionThatAnotherCouldNotSuspend() {
		TransactionGuard.watch(this.manager);
		TransactionTemplate inner = new TransactionTemplate(this.manager);
		inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		new TransactionTemplate(this.manager).executeWithoutResult((status) -> {
			ObservedTransaction transaction = ObservedTransaction.known();
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void suspend() {
					throw new IllegalStateException("of the test");
				}

			});
			for (int i = 0; i < 3; i++) {
				assertThatIllegalStateException().isThrownBy(() -> inner.executeWithoutResult((never) -> {
				}));
				assertThat(ObservedTransaction.known()).isNotNull().isSameAs(transaction);
			}
		});
	}

	/**
	 * A listener may write an audit in a transaction of its own.
	 */
	@ParameterizedTest
	@EnumSource
	void observesTheTransactionWhoseListenerBeginsAnother(Around around) {
		List<Boolean> observed = new ArrayList<>();
		AtomicBoolean inner = new AtomicBoolean();
		TransactionTemplate audit = new TransactionTemplate(this.manager);
		audit.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		TransactionExecutionListener other = around.listener(() -> {
			if (inner.compareAndSet(false, true)) {
				audit.executeWithoutResult((status) -> observed.add(isObserved()));
				inner.set(false);
			}
		});
		if (around.isFirst()) {
			this.manager.addListener(other);
		}
		TransactionGuard.watch(this.manager);
		if (!around.isFirst()) {
			this.manager.addListener(other);
		}
		TransactionTemplate template = new TransactionTemplate(this.manager);
		template.executeWithoutResult((status) -> observed.add(isObserved()));
		assertThat(observed).hasSizeGreaterThan(1).containsOnly(true);
	}

	@Test
	void observesTheTransactionAfterOneWhoseListenerFailed() {
		TransactionGuard.watch(this.manager);
		AtomicBoolean failing = new AtomicBoolean(true);
		this.manager.addListener(new TransactionExecutionListener() {

			@Override
			public void beforeBegin(TransactionExecution transaction) {
				if (failing.get()) {
					throw new IllegalStateException("of the test");
				}
			}

		});
		TransactionTemplate template = new TransactionTemplate(this.manager);
		for (int i = 0; i < 3; i++) {
			assertThatIllegalStateException().isThrownBy(() -> template.executeWithoutResult((never) -> {
			}));
		}
		failing.set(false);
		template.executeWithoutResult((status) -> assertThat(isObserved()).isTrue());
	}

	/**
	 * On PostgreSQL, one that catches the failure of a statement has ended the
	 * transaction.
	 */
	@Test
	void looksBehindListenersThatAreAddedLater() {
		List<String> called = new ArrayList<>();
		TransactionGuard.watch(this.manager);
		TransactionGuard.watch(this.manager);
		this.manager.addListener(new TransactionExecutionListener() {

			@Override
			public void beforeCommit(TransactionExecution transaction) {
				called.add("listener");
			}

		});
		new TransactionTemplate(this.manager).executeWithoutResult(
				(status) -> Objects.requireNonNull(ObservedTransaction.known()).add(new TransactionParticipant() {

					@Override
					public boolean confirm() {
						called.add("look");
						return true;
					}

				}, this.dataSource));
		assertThat(called).containsExactly("listener", "look");
	}

	private boolean isObserved() {
		ObservedTransaction transaction = ObservedTransaction.known();
		return transaction != null && transaction.commits(this.dataSource);
	}

	/**
	 * As with {@code spring.datasource.connection-fetch=lazy}.
	 */
	@ParameterizedTest
	@EnumSource
	void fetchesNoConnectionOfATransactionWithoutStatements(End end) {
		AtomicInteger fetched = new AtomicInteger();
		DataSource lazy = new LazyConnectionDataSourceProxy(new DelegatingDataSource(this.dataSource) {

			@Override
			public Connection getConnection() throws SQLException {
				fetched.incrementAndGet();
				return super.getConnection();
			}

		});
		JdbcTransactionManager lazily = new JdbcTransactionManager(lazy);
		if (end != End.UNKNOWN) {
			TransactionGuard.watch(lazily);
		}
		// The proxy looks at the first connection for its defaults.
		new TransactionTemplate(lazily).executeWithoutResult((status) -> {
		});
		fetched.set(0);
		List<End> told = new ArrayList<>();
		new TransactionTemplate(lazily).executeWithoutResult((status) -> {
			Objects.requireNonNull(ObservedTransaction.current()).add(new TransactionParticipant() {

				@Override
				public void ended(End each) {
					told.add(each);
				}

			}, (end == End.UNKNOWN) ? lazy : null);
			if (end == End.ROLLED_BACK) {
				status.setRollbackOnly();
			}
		});
		assertThat(told).containsExactly((end == End.ROLLED_BACK) ? end : End.COMMITTED);
		assertThat(fetched).hasValue(0);
	}

	private static DataSource h2() {
		return new SimpleDriverDataSource(new Driver(), "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
	}

	/**
	 * When a listener of the application is called, and in which order.
	 */
	enum Around {

		BEFORE_BEGIN_FIRST, BEFORE_BEGIN_LAST, AFTER_BEGIN_FIRST, AFTER_BEGIN_LAST;

		boolean isFirst() {
			return name().endsWith("FIRST");
		}

		TransactionExecutionListener listener(Runnable act) {
			return new TransactionExecutionListener() {

				@Override
				public void beforeBegin(TransactionExecution transaction) {
					if (name().startsWith("BEFORE")) {
						act.run();
					}
				}

				@Override
				public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
					if (name().startsWith("AFTER")) {
						act.run();
					}
				}

			};
		}

	}

}
