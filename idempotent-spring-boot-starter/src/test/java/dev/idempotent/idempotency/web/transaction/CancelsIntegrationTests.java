package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Cancels on PostgreSQL, with Redis and a replay cache in front.
 */
class CancelsIntegrationTests extends CancelRules {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		application = TransactionApplication.start(HoldApplication.class, redis, postgres, WebApplication.WITH_DATABASE,
				"test.container=" + container, "idempotent.replay-cache.max-size=1MB");
	}

	@Test
	void preventsAnActionThatIsStillClaimedInRedisByADeadProcess() {
		IdempotencyKey action = HoldApplication.keyOf(this.key);
		IdempotencyStore front = application.bean(IdempotencyStore.class);
		assertThat(front.claim(action, Samples.fingerprint("any"), "dead", Duration.ofMillis(1400)))
			.isInstanceOf(Claim.Acquired.class);
		HttpResponse<byte[]> cancelled = application.post("/releases/created?name=dead", "{}", "Idempotency-Key",
				"undo-" + this.key, "Idempotency-Cancels", this.key + "; outcome=unknown");
		assertThat(cancelled.statusCode()).isEqualTo(204);
		await().until(() -> post("/holds/created?name=" + this.key).statusCode() == 410);
		assertThat(application.bean(Works.class).count(this.key)).isZero();
	}

}
