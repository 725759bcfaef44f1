package dev.idempotent.outbox.handler;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The rules on PostgreSQL.
 */
class PostgresHandlerIntegrationTests extends HandlerCommitRules {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Override
	List<String> database() {
		return postgres.properties();
	}

	/**
	 * PostgreSQL answers the commit of a failed transaction with a rollback.
	 */
	@Test
	void repeatWorkOfATransactionThatHasFailedWithoutTheirException() {
		HandlerShop shop = open(HandlerShop.OFTEN);
		AtomicInteger calls = new AtomicInteger();
		shop.handlers().whenBooking((id) -> {
			if (calls.incrementAndGet() == 1) {
				assertThatExceptionOfType(DataAccessException.class)
					.isThrownBy(() -> shop.jdbc().execute("select 1 / 0"));
			}
		});
		shop.append(HandlerShop.event("order.placed", "1"));
		awaitNoRows(shop);
		assertThat(calls).hasValue(2);
		assertThat(shop.work("book")).containsExactly("1");
	}

}
