package dev.idempotent.idempotency.jdbc;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.Test;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link JdbcIdempotencyStore} and {@link OwnTransactions} within the
 * transactions and with the settings of an application.
 */
class JdbcIdempotencyStoreTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private final RecordTable table = RecordTable.inMemory();

	private final IdempotencyKey key = Samples.key();

	@Test
	void keepsItsClaimWhenTheCallersTransactionRollsBack() {
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(new OwnTransactions(this.table.dataSource()),
				this.table.name());
		claimInATransactionThatRollsBack(store);
		assertThat(store.claim(this.key, REQUEST, "rival", MINUTE)).isInstanceOf(Claim.Pending.class);
	}

	@Test
	void keepsItsClaimBehindADataSourceThatJoinsTransactions() {
		TransactionAwareDataSourceProxy joining = new TransactionAwareDataSourceProxy(
				new TransactionAwareDataSourceProxy(this.table.dataSource()));
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(new OwnTransactions(joining), this.table.name());
		claimInATransactionThatRollsBack(store);
		assertThat(store.claim(this.key, REQUEST, "rival", MINUTE)).isInstanceOf(Claim.Pending.class);
	}

	@Test
	void commitsWithoutAutoCommitAndRestoresTheConnection() throws SQLException {
		try (Connection only = this.table.dataSource().getConnection()) {
			only.setAutoCommit(false);
			JdbcIdempotencyStore store = new JdbcIdempotencyStore(
					new OwnTransactions(new SingleConnectionDataSource(only, true)), this.table.name());
			store.claim(this.key, REQUEST, "owner", MINUTE);
			assertThat(only.getAutoCommit()).isFalse();
			only.rollback();
		}
		assertThat(new JdbcIdempotencyStore(new OwnTransactions(this.table.dataSource()), this.table.name())
			.claim(this.key, REQUEST, "rival", MINUTE)).isInstanceOf(Claim.Pending.class);
	}

	@Test
	void explainsHowToCreateAMissingTable() {
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(new OwnTransactions(this.table.dataSource()),
				"no_such_table");
		assertThatExceptionOfType(IdempotencyStoreException.class)
			.isThrownBy(() -> store.claim(this.key, REQUEST, "owner", MINUTE))
			.isNotInstanceOf(IdempotencyStoreUnavailableException.class)
			.withMessageContainingAll("no_such_table", "dev/idempotent/schema/", "idempotent.jdbc.initialize-schema");
	}

	@Test
	void rejectsATokenThatIsTooLong() {
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(new OwnTransactions(this.table.dataSource()),
				this.table.name());
		assertThatExceptionOfType(IdempotencyStoreException.class)
			.isThrownBy(() -> store.claim(this.key, REQUEST, "t".repeat(129), MINUTE))
			.isNotInstanceOf(IdempotencyStoreUnavailableException.class)
			.withMessageContaining(this.key.digest());
	}

	@Test
	void rejectsAnUnsupportedDatabase() {
		Connection unknown = connectionOf("Oracle");
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
			.isThrownBy(() -> new IdempotencyRecords("keys").release(unknown, this.key, "owner"))
			.withMessageContainingAll("Oracle", "PostgreSQL, MySQL, MariaDB or H2");
	}

	@Test
	void rejectsATableNameWithOtherSql() {
		assertThatIllegalArgumentException().isThrownBy(() -> new IdempotencyRecords("keys; drop table orders"));
		assertThatIllegalArgumentException().isThrownBy(() -> new IdempotencyRecords("a.b.c"));
	}

	@Test
	void findsItsTableInASchema() {
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(new OwnTransactions(this.table.dataSource()),
				"public." + this.table.name());
		assertThat(store.claim(this.key, REQUEST, "owner", MINUTE)).isEqualTo(new Claim.Acquired());
	}

	private void claimInATransactionThatRollsBack(JdbcIdempotencyStore store) {
		TransactionTemplate transaction = new TransactionTemplate(
				new DataSourceTransactionManager(this.table.dataSource()));
		transaction.executeWithoutResult((status) -> {
			int bound = TransactionSynchronizationManager.getResourceMap().size();
			store.claim(this.key, REQUEST, "owner", MINUTE);
			assertThat(TransactionSynchronizationManager.getResourceMap()).hasSize(bound);
			assertThat(TransactionSynchronizationManager.getSynchronizations()).isEmpty();
			status.setRollbackOnly();
		});
	}

	/**
	 * A connection that has nothing but the name of its database.
	 */
	private static Connection connectionOf(String product) {
		DatabaseMetaData metaData = answering(DatabaseMetaData.class, product);
		return answering(Connection.class, metaData);
	}

	private static <T> T answering(Class<T> type, Object answer) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(proxy, method, arguments) -> answer));
	}

}
