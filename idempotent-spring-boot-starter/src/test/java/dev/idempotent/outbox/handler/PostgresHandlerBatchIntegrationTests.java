package dev.idempotent.outbox.handler;

import java.util.List;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The promises on PostgreSQL.
 */
class PostgresHandlerBatchIntegrationTests extends AbstractHandlerBatchTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Override
	List<String> database() {
		return postgres.properties();
	}

	/**
	 * As a foreign key does that references the table.
	 */
	@Test
	void getEventsTogetherWhoseRowsOtherTransactionsHaveLocked() {
		HandlerShop idle = open(IDLE);
		idle.append(events(20));
		assertThat(idle.jdbc().queryForList("select id from handler_event for key share")).hasSize(20);
		HandlerShop shop = open(HandlerShop.OFTEN);
		awaitNoRows(shop);
		assertThat(shop.work("count")).containsExactlyInAnyOrder(ids(20));
		assertThat(shop.bean(Batches.class).calls).anyMatch((ids) -> ids.size() > 1);
	}

}
