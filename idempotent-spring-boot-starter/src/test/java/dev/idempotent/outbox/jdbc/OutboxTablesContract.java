package dev.idempotent.outbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxRow.Place;
import dev.idempotent.outbox.OutboxStoreSteps;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What is promised about a store whose events are rows of tables.
 */
abstract class OutboxTablesContract extends OutboxStoreSteps {

	@Override
	protected abstract StoreOnTables tested();

	@Test
	void skipsLockedRows() throws SQLException {
		List<SerializedEvent> rows = append("one", "two", "three", "four");
		whileLocked(Place.EVENT, rows.subList(0, 2), () -> assertThat(types(claim())).containsExactly("three", "four"));
		assertThat(types(claim())).containsExactly("one", "two");
	}

	@Test
	void skipsLockedWaitingRows() throws SQLException {
		List<SerializedEvent> rows = append("one", "two", "three", "four");
		postpone(claim(), LONG);
		passTime();
		whileLocked(Place.WAITING, rows.subList(0, 2),
				() -> assertThat(types(claimWaiting())).containsExactly("three", "four"));
		assertThat(types(claimWaiting())).containsExactly("one", "two");
	}

	@Test
	void skipsLockedDelayedRows() throws SQLException {
		tested().insert(UUID.randomUUID(), this.publisher + ":orders", LONG);
		List<SerializedEvent> rows = List.of(rows(Place.EVENT).get(0).event());
		whileLocked(Place.EVENT, rows, () -> {
			store().moveDelayedToWaiting(1000);
			assertThat(rows(Place.WAITING)).isEmpty();
		});
		store().moveDelayedToWaiting(1000);
		assertThat(rows(Place.WAITING)).hasSize(1);
	}

	private void whileLocked(Place place, List<SerializedEvent> rows, Runnable work) throws SQLException {
		try (Connection connection = tested().dataSource().getConnection()) {
			connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
			connection.setAutoCommit(false);
			for (SerializedEvent row : rows) {
				try (PreparedStatement lock = connection
					.prepareStatement("select id from " + tested().table(place) + " where id = ? for update")) {
					lock.setLong(1, row.sequence());
					assertThat(lock.executeQuery().next()).isTrue();
				}
			}
			work.run();
			connection.rollback();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "no JSON", "null", "[]", "\"text\"", "{\"a\": {\"b\": 1}}", "{\"a\": null}", "{} {}" })
	void claimsAnEventWithUnreadableHeadersAsUndeliverable(String headers) {
		append("before");
		tested().insertWithHeaders(this.publisher + ":orders", headers);
		append("behind");
		List<LeasedEvent> held = claim();
		assertThat(types(held)).containsExactly("before", "foreign", "behind");
		assertThat(held).extracting(LeasedEvent::undeliverable)
			.containsExactly(null, new Outcome.Reject("Its headers are not a JSON object of strings"), null);
		assertThat(deadLetter(List.of(held.get(1)))).isEqualTo(1);
		assertThat(store().delivered(List.of(held.get(0), held.get(2)))).isEqualTo(2);
		assertThat(rows(Place.EVENT)).isEmpty();
		assertThat(rows(Place.DEAD)).hasSize(1).allSatisfy((row) -> {
			assertThat(row.event().type()).isEqualTo("foreign");
			assertThat(row.event().payload()).containsExactly(1);
		});
		assertThat(tested().template()
			.queryForObject("select headers from " + tested().tables().dead() + " where topic = ?", String.class,
					this.publisher + ":orders"))
			.isEqualTo(headers);
	}

	@Test
	void joinsTheTransactionsOfItsDataSource() {
		assertThat(store().transactionResource()).isSameAs(tested().dataSource());
		inTransaction(() -> assertThat(TransactionSynchronizationManager.hasResource(store().transactionResource()))
			.isTrue());
	}

	@Test
	void commitsIndependentlyBehindAProxyThatJoinsTransactions() {
		JdbcOutboxStore store = new JdbcOutboxStore(new TransactionAwareDataSourceProxy(tested().dataSource()),
				tested().tables(), PayloadEncryption.NONE);
		assertThat(store.transactionResource()).isSameAs(tested().dataSource());
		inTransaction(() -> {
			store.append(List.of(event("one")), null);
			assertThat(claim()).isEmpty();
			return true;
		});
		assertThat(types(claim())).containsExactly("one");
	}

	@Test
	void knowsWhetherTheTablesExist() {
		assertThat(tested().check().hasTables()).isTrue();
		OutboxTables missing = new OutboxTables("missing_");
		assertThat(new OutboxTableCheck(tested().dataSource(), missing).hasTables()).isFalse();
		JdbcOutboxStore without = new JdbcOutboxStore(tested().dataSource(), missing, PayloadEncryption.NONE);
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
			.isThrownBy(() -> inTransaction(() -> without.append(List.of(event("one")), null)))
			.withMessageContaining("missing_event")
			.withMessageContaining("idempotent.outbox.initialize-schema");
	}

}
