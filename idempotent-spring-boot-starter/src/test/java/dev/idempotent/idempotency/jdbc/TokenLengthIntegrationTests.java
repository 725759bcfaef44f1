package dev.idempotent.idempotency.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that {@link JdbcIdempotencyStore} stores the tokens of traced runs, or refuses a
 * table that cannot.
 */
class TokenLengthIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Test
	void isEnoughInTheTableOfTheScript() {
		verifyAndClaim(RecordTable.inMemory());
		verifyAndClaim(RecordTable.create(postgres.connect(), "postgresql", "tokens"));
	}

	@Test
	void isEnoughInAColumnWithoutALimit() {
		RecordTable table = RecordTable.create(postgres.connect(), "postgresql", "unlimited_tokens");
		table.template().execute("alter table unlimited_tokens alter column token type text");
		verifyAndClaim(table);
	}

	@Test
	void isRefusedAtTheStartInATableOfAnEarlierVersion() {
		RecordTable h2 = RecordTable.inMemory();
		h2.template().execute("alter table idempotency_record alter column token set data type varchar(64)");
		assertRefused(h2.dataSource(), RecordTable.DEFAULT);
		RecordTable table = RecordTable.create(postgres.connect(), "postgresql", "short_tokens");
		table.template().execute("alter table short_tokens alter column token type varchar(64)");
		assertRefused(table.dataSource(), "short_tokens");
	}

	private static void assertRefused(DataSource dataSource, String table) {
		assertThatExceptionOfType(IdempotentConfigurationException.class)
			.isThrownBy(() -> new JdbcIdempotencyStore(dataSource, table).verify())
			.withMessageContaining("token")
			.withMessageContaining("64");
	}

	private static void verifyAndClaim(RecordTable table) {
		JdbcIdempotencyStore store = new JdbcIdempotencyStore(table.dataSource(), table.name());
		store.verify();
		String token = new RunOrigin(Instant.now(), Guarantee.TRANSACTION,
				"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
			.toToken(UUID.randomUUID().toString());
		assertThat(store.claim(Samples.key(), Samples.fingerprint("request"), token, Duration.ofMinutes(1)))
			.isEqualTo(new Claim.Acquired());
	}

}
