package dev.idempotent.idempotency.web.transaction;

import java.util.List;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Concurrent cancels on PostgreSQL.
 */
class ConcurrentCancelsIntegrationTests extends ConcurrentCancelRules {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Override
	List<String> database() {
		return postgres.properties();
	}

	@Override
	String waiting() {
		return "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%idempotency_record%'";
	}

}
