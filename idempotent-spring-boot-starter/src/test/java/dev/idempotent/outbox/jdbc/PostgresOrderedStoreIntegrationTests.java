package dev.idempotent.outbox.jdbc;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.outbox.OrderedEvent;
import dev.idempotent.outbox.SerializedEvent;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link JdbcOrderedStore} on PostgreSQL.
 */
class PostgresOrderedStoreIntegrationTests extends JdbcOrderedStoreContract {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static DataSource pool;

	@BeforeAll
	static void connect() {
		pool = postgres.connect();
	}

	@Override
	StoreOnTables create(String name) {
		return StoreOnTables.create(pool, "postgresql", name + "_outbox_");
	}

	@ParameterizedTest
	@CsvSource({ "cache 20, caches 20, cache 1", "increment -1, decrease, increment 1", "cycle, repeat, no cycle" })
	void rejectsASequenceThatDoesNotIncrease(String setting, String reason, String remedy) {
		OrderedOnTables tables = tables("ids");
		String alter = "alter table " + tables.table() + " alter column id set ";
		tables.template().execute(alter + setting);
		OrderedIdsContract.rejects(tables.tables().check(), reason, alter + remedy);
		tables.template().execute(alter + remedy);
		tables.tables().check().requireIncreasingRows();
	}

	@Test
	void abortsNoSerializableTransactionByReadingHeads() {
		HikariDataSource serializable = postgres.connect();
		serializable.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
		OrderedOnTables tables = OrderedOnTables
			.on(StoreOnTables.create(serializable, "postgresql", "serializable_outbox_"));
		tables.template().execute("drop table if exists serializable_stock");
		tables.template().execute("create table serializable_stock as select 1 as number");
		OrderedEvent event = OrderedEvent.of(new SerializedEvent(UUID.randomUUID(), 0, "test:orders", "key", "type",
				new byte[0], Map.of(SerializedEvent.CONTENT_TYPE, "text/plain"), 0));
		new TransactionTemplate(tables.transactions()).executeWithoutResult((status) -> {
			tables.template().queryForList("select number from serializable_stock");
			tables.store().append(List.of(event));
			CompletableFuture.runAsync(() -> tables.template().update("update serializable_stock set number = 2"))
				.join();
			assertThat(tables.store().heads(List.of(event.keyHash()))).isEmpty();
		});
		assertThat(tables.store().heads(List.of(event.keyHash()))).containsKey(event.keyHash());
		tables.template().update("delete from " + tables.table());
	}

}
