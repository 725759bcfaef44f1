package dev.idempotent.transaction;

import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.testing.FailingListener;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.jta.JtaTransactionManager;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link TransactionRequirements}.
 */
public class TransactionRequirementsTests {

	@Test
	void refuseAManagerOfSeveralDatabases() {
		DataSource one = new DriverManagerDataSource("jdbc:h2:mem:one");
		PlatformTransactionManager first = new JdbcTransactionManager(one);
		assertThat(requireTransactions(first, one)).isTrue();
		PlatformTransactionManager other = new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:other"));
		assertRefuses(new Chain(first, other), one);
		new TransactionTemplate(other).executeWithoutResult((status) -> {
			assertThat(requireTransactions(first, one)).isTrue();
			assertRefuses(new Chain(first, other), one);
		});
	}

	private static void assertRefuses(PlatformTransactionManager chain, DataSource dataSource) {
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(() -> requireTransactions(chain, dataSource))
			.withMessageContaining("Chain) commits the transactions of several databases one after another");
	}

	@Test
	void refuseJta() {
		DataSource one = new DriverManagerDataSource("jdbc:h2:mem:one");
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(() -> requireTransactions(new JtaTransactionManager() {
			}, one))
			.withMessageContaining("is one of JTA, which is not supported");
	}

	@Test
	void refuseAManagerWithoutSynchronizations() {
		DataSource one = new DriverManagerDataSource("jdbc:h2:mem:one");
		JdbcTransactionManager manager = new JdbcTransactionManager(one);
		manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(() -> requireTransactions(manager, one))
			.withMessageContaining("JdbcTransactionManager) has no synchronizations")
			.satisfies((ex) -> assertThat(ex.getAction()).contains("SYNCHRONIZATION_ALWAYS"));
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
	}

	/**
	 * The start goes on, for example with the next check, if an application catches it.
	 */
	@Test
	void leaveNoTransactionIfAListenerFails() {
		DataSource one = new DriverManagerDataSource("jdbc:h2:mem:one");
		JdbcTransactionManager manager = new JdbcTransactionManager(one);
		FailingListener.of(manager).failAfterBegin(new IllegalStateException("a listener"));
		assertThatIllegalStateException().isThrownBy(() -> requireTransactions(manager, one));
		assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isFalse();
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
	}

	/**
	 * Spring cannot bind the connection of the outer transaction again.
	 */
	@Test
	void leaveTheOuterTransactionIfAListenerFails() {
		DataSource one = new DriverManagerDataSource("jdbc:h2:mem:outer;DB_CLOSE_DELAY=-1");
		JdbcTemplate jdbc = new JdbcTemplate(one);
		jdbc.execute("create table work (what varchar(100))");
		JdbcTransactionManager manager = new JdbcTransactionManager(one);
		FailingListener listener = FailingListener.of(manager);
		List<Integer> ends = new ArrayList<>();
		TransactionTemplate outer = new TransactionTemplate(manager);
		outer.setName("outer");
		outer.executeWithoutResult((status) -> {
			jdbc.update("insert into work values ('before')");
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void suspend() {
					ends.add(-1);
				}

				@Override
				public void resume() {
					ends.add(-2);
				}

				@Override
				public void afterCompletion(int completion) {
					ends.add(completion);
				}

			});
			listener.failAfterBegin(new IllegalStateException("a listener"));
			assertThatIllegalStateException().isThrownBy(() -> requireTransactions(manager, one));
			assertThat(TransactionSynchronizationManager.getCurrentTransactionName()).isEqualTo("outer");
			assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isTrue();
			jdbc.update("insert into work values ('after')");
		});
		assertThat(ends).containsExactly(-1, -2, TransactionSynchronization.STATUS_COMMITTED);
		assertThat(jdbc.queryForList("select what from work", String.class)).containsExactly("before", "after");
		assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
	}

	private static boolean requireTransactions(PlatformTransactionManager manager, DataSource dataSource) {
		return TransactionRequirements.requireTransactions(manager, dataSource, "A test needs it", "the test");
	}

	/**
	 * Commits the transactions of two managers in turn.
	 */
	public record Chain(PlatformTransactionManager first,
			PlatformTransactionManager second) implements PlatformTransactionManager {

		@Override
		public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
			TransactionStatus status = this.first.getTransaction(definition);
			return new Both(status, this.second.getTransaction(definition));
		}

		@Override
		public void commit(TransactionStatus status) {
			this.second.commit(((Both) status).second());
			this.first.commit(((Both) status).first());
		}

		@Override
		public void rollback(TransactionStatus status) {
			this.second.rollback(((Both) status).second());
			this.first.rollback(((Both) status).first());
		}

	}

	private record Both(TransactionStatus first, TransactionStatus second) implements TransactionStatus {

		@Override
		public Object createSavepoint() {
			throw new UnsupportedOperationException();
		}

		@Override
		public void rollbackToSavepoint(Object savepoint) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void releaseSavepoint(Object savepoint) {
			throw new UnsupportedOperationException();
		}

	}

}
