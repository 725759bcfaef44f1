package dev.idempotent.outbox.jdbc;

import java.util.List;

import dev.idempotent.outbox.OutboxStoreSteps;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link JdbcOutboxStore} on H2.
 */
class H2OutboxStoreTests extends JdbcOutboxStoreContract {

	@Override
	StoreOnTables create(String name) {
		return StoreOnTables.inMemory();
	}

	@Nested
	class TimeTests extends OutboxStoreSteps {

		@Override
		protected StoreOnTables tested() {
			return tables("contract");
		}

		/**
		 * The clock of H2 stands still in a transaction, so a lease would begin with it.
		 */
		@Test
		void declaresThatALeaseBeginsWithTheTransaction() {
			assertThat(store().leasesAtAppend()).isFalse();
			inTransaction(() -> {
				Object begin = tested().template().queryForObject("select current_timestamp(6)", Object.class);
				long row = store().append(List.of(event("one")), lease()).get(0).sequence();
				return assertThat(tested().template()
					.queryForObject(
							"select available_at = dateadd(minute, 10, cast(? as timestamp(6) with time zone)) from outbox_event where id = ?",
							Boolean.class, begin, row))
					.isTrue();
			});
		}

	}

}
