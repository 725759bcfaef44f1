package dev.idempotent.idempotency.web.transaction;

import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cancels on PostgreSQL alone, with encrypted responses.
 */
@Tag("long")
class EncryptedCancelsIntegrationTests extends CancelRules {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		application = TransactionApplication.start(HoldApplication.class, redis, postgres, WebApplication.WITH_DATABASE,
				"test.container=" + container, "idempotent.store=jdbc",
				"idempotent.encryption.keys.k1=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
				"idempotent.encryption.active-key=k1");
	}

	@Test
	void encryptsTombstones() {
		application.post("/releases/created?name=any", "{}", "Idempotency-Key", "undo-" + this.key,
				"Idempotency-Cancels", this.key);
		assertThat(application.bean(JdbcTemplate.class)
			.queryForObject("select encode(response, 'escape') from idempotency_record where key_digest = ?",
					String.class, HoldApplication.keyOf(this.key).digest()))
			.contains("k1")
			.doesNotContain("cancelled");
	}

}
