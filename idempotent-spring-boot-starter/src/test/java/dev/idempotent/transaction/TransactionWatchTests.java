package dev.idempotent.transaction;

import java.util.Objects;
import java.util.UUID;

import javax.sql.DataSource;

import org.h2.Driver;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
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

	private static DataSource h2() {
		return new SimpleDriverDataSource(new Driver(), "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
	}

}
