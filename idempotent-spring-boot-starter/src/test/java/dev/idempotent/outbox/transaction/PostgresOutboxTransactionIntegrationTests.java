package dev.idempotent.outbox.transaction;

import java.util.ArrayList;
import java.util.List;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The promises with a {@code JdbcTransactionManager} on PostgreSQL.
 */
class PostgresOutboxTransactionIntegrationTests extends AbstractSavepointTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Override
	ConfigurableApplicationContext start(List<String> properties) {
		List<String> all = new ArrayList<>(properties);
		all.addAll(postgres.properties());
		return OutboxApplication.start(all);
	}

	/**
	 * Tenants with a schema each, in which the same migration has created these tables.
	 */
	@Test
	void insertsIntoTheSchemaOfTheTablePrefixWhateverTheWorkSelects() {
		try (ConfigurableApplicationContext context = start(
				List.of("idempotent.outbox.table-prefix=public.tenants_", "idempotent.outbox.relay.enabled=false"))) {
			JdbcClient database = context.getBean(JdbcClient.class);
			database.sql("drop schema if exists tenant cascade").update();
			database.sql("create schema tenant create table tenants_event (like public.tenants_event including all)")
				.update();
			database.sql("delete from public.tenants_event").update();
			context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
				context.getBean(Outbox.class).append(OutboxEvent.of("kept", 1));
				database.sql("set local search_path = tenant").update();
			});
			assertThat(database.sql("select count(*) from public.tenants_event").query(Integer.class).single())
				.isEqualTo(1);
		}
	}

}
