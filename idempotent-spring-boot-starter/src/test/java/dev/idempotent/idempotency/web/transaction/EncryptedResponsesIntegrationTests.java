package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.redis.RedisValues;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Stored responses are encrypted in Redis and in the database.
 */
class EncryptedResponsesIntegrationTests extends AbstractPostgresHandlerTests {

	private static final String KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

	private final RedisValues values = new RedisValues(redis.connect());

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithPostgres(SecretApplication.class, container, "idempotent.encryption.keys.k1=" + KEY,
				"idempotent.encryption.active-key=k1");
	}

	@Test
	void areEncryptedInRedis() {
		for (String path : List.of("/secret/lease", "/secret/transaction")) {
			String key = UUID.randomUUID().toString();
			HttpResponse<byte[]> first = application.post(path, "", "Idempotency-Key", key);
			assertThat(text(first)).isEqualTo("the secret");
			assertThat(this.values.state(redisKey(first))).isEqualTo(StoredKey.State.COMPLETED);
			assertThat(new String(this.values.response(redisKey(first)).bytes(), StandardCharsets.ISO_8859_1))
				.doesNotContain("secret")
				.contains("k1");
			HttpResponse<byte[]> replay = application.post(path, "", "Idempotency-Key", key);
			assertThat(isReplay(replay)).isTrue();
			assertThat(replay.body()).isEqualTo(first.body());
		}
	}

	@Test
	void areEncryptedInTheDatabase() {
		String key = UUID.randomUUID().toString();
		HttpResponse<byte[]> first = application.post("/secret/transaction", "", "Idempotency-Key", key);
		String stored = application.bean(JdbcTemplate.class)
			.queryForObject("select encode(response, 'escape') from idempotency_record where key_digest = ?",
					String.class, digest(first));
		assertThat(stored).doesNotContain("secret").contains("k1");
		redis.flush();
		HttpResponse<byte[]> replay = application.post("/secret/transaction", "", "Idempotency-Key", key);
		assertThat(isReplay(replay)).isTrue();
		assertThat(replay.body()).isEqualTo(first.body());
	}

	@Test
	void areNotReplayedUnderAnotherKey() {
		String victim = UUID.randomUUID().toString();
		String attacker = UUID.randomUUID().toString();
		HttpResponse<byte[]> secret = application.post("/secret/lease", "", "Idempotency-Key", victim);
		HttpResponse<byte[]> own = application.post("/secret/lease", "", "Idempotency-Key", attacker);
		this.values.completed(redisKey(own), "owner", new Fingerprint(0, "any"),
				this.values.response(redisKey(secret)));
		HttpResponse<byte[]> replay = application.post("/secret/lease", "", "Idempotency-Key", attacker);
		assertThat(replay.statusCode()).isEqualTo(500);
		assertThat(text(replay)).contains("store-failed", "may have been processed").doesNotContain("secret");
	}

	private static String redisKey(HttpResponse<byte[]> answer) {
		return "idempotency:" + digest(answer);
	}

	private static String digest(HttpResponse<byte[]> answer) {
		return answer.headers().firstValue("X-Digest").orElseThrow();
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ TransactionApplication.class, SecretController.class })
	static class SecretApplication {

	}

	@RestController
	static class SecretController {

		@PostMapping("/secret/lease")
		@Idempotent(guarantee = Guarantee.LEASE)
		ResponseEntity<String> lease() {
			return secret();
		}

		@PostMapping("/secret/transaction")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		ResponseEntity<String> transaction() {
			return secret();
		}

		private static ResponseEntity<String> secret() {
			IdempotencyContext context = IdempotencyContext.current();
			return ResponseEntity.ok()
				.header("X-Digest", (context != null) ? context.key().digest() : "none")
				.body("the secret");
		}

	}

}
