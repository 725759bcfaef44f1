package dev.idempotent.saga.jdbc;

import java.util.concurrent.CompletableFuture;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.saga.store.SagaStore.Cancellation;
import dev.idempotent.saga.store.SagaStore.SignalReceipt;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.PessimisticLockingFailureException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link JdbcSagaStore} on pools of PostgreSQL whose connections have a higher
 * isolation than READ COMMITTED.
 */
@Tag("long")
class SerializableSagaStoreIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static SagaRows serializable;

	private static SagaRows repeatable;

	@BeforeAll
	static void createTables() {
		serializable = rows("TRANSACTION_SERIALIZABLE", "saga_serializable_");
		repeatable = rows("TRANSACTION_REPEATABLE_READ", "saga_repeatable_");
	}

	private static SagaRows rows(String isolation, String prefix) {
		HikariDataSource pool = postgres.connect();
		SagaRows.create(pool, "postgresql", prefix);
		HikariDataSource isolated = postgres.connect();
		isolated.setTransactionIsolation(isolation);
		return new SagaRows(isolated, "postgresql", new SagaTables(prefix));
	}

	@Nested
	class SerializableTests extends AbstractJdbcSagaStoreTests {

		@Override
		SagaRows rows() {
			return serializable;
		}

		@Override
		protected void awaitAWaitingInsert() {
			awaitALock(serializable);
		}

	}

	@Nested
	class RepeatableReadTests extends AbstractJdbcSagaStoreTests {

		@Override
		SagaRows rows() {
			return repeatable;
		}

		@Override
		protected void awaitAWaitingInsert() {
			awaitALock(repeatable);
		}

		/**
		 * Also if the saga does not wait for it, so that nobody else has its row.
		 */
		@Test
		void acceptNoSignalForASagaThatWasCancelledSinceTheirSnapshot() {
			beginWait();
			assertThatExceptionOfType(ConcurrencyFailureException.class)
				.isThrownBy(() -> transactions().executeWithoutResult((status) -> {
					assertThat(this.store.findInTransaction(this.saga.id())).isNotNull();
					CompletableFuture.runAsync(() -> this.store.cancel(this.saga.id(), "reason")).join();
					SignalReceipt unused = this.store.signalInTransaction(of("other", "100"));
				}));
		}

		@Test
		void doNotTellThatThereIsNoSagaIfTheirSnapshotIsOlder() {
			assertThatExceptionOfType(PessimisticLockingFailureException.class)
				.isThrownBy(() -> transactions().executeWithoutResult((status) -> {
					assertThat(this.store.findInTransaction(this.saga.id())).isNull();
					CompletableFuture.runAsync(this::beginWait).join();
					Cancellation unused = this.store.cancelInTransaction(this.saga.id(), "reason");
				}));
		}

	}

	private static void awaitALock(SagaRows rows) {
		await().until(() -> rows.template()
			.queryForObject("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like ?",
					Long.class, "%insert into " + rows.tables().prefix() + "%"),
				Long.valueOf(1)::equals);
	}

}
