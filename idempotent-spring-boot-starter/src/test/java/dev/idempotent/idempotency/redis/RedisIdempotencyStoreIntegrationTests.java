package dev.idempotent.idempotency.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.idempotent.idempotency.AbstractIdempotencyStoreFuzzTests;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.RunDescription;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.test.IdempotencyStoreContract;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RealRedisCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link RedisIdempotencyStore}.
 */
class RedisIdempotencyStoreIntegrationTests extends IdempotencyStoreContract {

	private static final String PREFIX = "contract:";

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private static final Fingerprint OTHER_REQUEST = Samples.fingerprint("other request");

	/**
	 * The commands of connections themselves.
	 */
	private static final Set<String> SESSION = Set.of("config|resetstat", "config", "info", "hello", "client",
			"client|setinfo", "ping");

	private static final Pattern CALLS = Pattern.compile("calls=(\\d+)");

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private static StringRedisTemplate template;

	private static RedisIdempotencyStore store;

	private final IdempotencyKey key = Samples.key();

	@BeforeAll
	static void connect() {
		template = new StringRedisTemplate(redis.connect());
		store = new RedisIdempotencyStore(IdempotencyRedisConnection.shared(redis.connect()), PREFIX);
	}

	@BeforeEach
	void flush() {
		redis.flush();
	}

	@Override
	public IdempotencyStore store() {
		return store;
	}

	@AfterEach
	void letsEveryKeyExpire() {
		assertThat(template.keys("*")).allSatisfy((name) -> assertThat(template.getExpire(name)).isNotEqualTo(-1));
	}

	@Test
	void expiresAKeyAfterItsLeaseAndThenAfterItsRetention() {
		store.claim(this.key, REQUEST, "owner", MINUTE);
		assertThat(timeToLive()).isBetween(1L, 60L);
		store.renew(this.key, "owner", MINUTE.multipliedBy(2));
		assertThat(timeToLive()).isBetween(61L, 120L);
		store.complete(this.key, REQUEST, "owner", Samples.response("response"), MINUTE.multipliedBy(3));
		assertThat(timeToLive()).isBetween(121L, 180L);
	}

	@Test
	void namesAKeyByPrefixAndDigest() {
		store.claim(this.key, REQUEST, "owner", MINUTE);
		assertThat(template.keys("*")).isEqualTo(Set.of(PREFIX + this.key.digest()));
	}

	@Test
	void deletesTheKeyOnRelease() {
		store.claim(this.key, REQUEST, "owner", MINUTE);
		store.release(this.key, "owner");
		assertThat(template.keys("*")).isEmpty();
	}

	@Test
	void separatesKeysByPrefix() {
		RedisIdempotencyStore other = new RedisIdempotencyStore(IdempotencyRedisConnection.shared(redis.connect()),
				"other:");
		store.claim(this.key, REQUEST, "owner", MINUTE);
		assertThat(other.claim(this.key, REQUEST, "rival", MINUTE)).isEqualTo(new Claim.Acquired());
	}

	@Test
	void sendsOneCommandPerOperation() {
		askEveryVerb(Samples.key());
		long loads = calls("eval");
		long verbs = calls("evalsha");
		askEveryVerb(this.key);
		assertThat(calls("eval")).isEqualTo(loads);
		assertThat(calls("evalsha")).isEqualTo(verbs + 6);
	}

	@Test
	void runsTwoCommandsPerScript() {
		StoredResponse response = Samples.response("response");
		assertThat(commands(() -> store.claim(this.key, REQUEST, "owner", MINUTE))).containsOnlyKeys("get", "set");
		assertThat(commands(() -> store.claim(this.key, REQUEST, "rival", MINUTE))).containsOnlyKeys("get", "pttl");
		assertThat(commands(() -> store.renew(this.key, "owner", MINUTE))).containsOnlyKeys("getrange", "pexpire");
		assertThat(commands(() -> store.release(this.key, "owner"))).containsOnlyKeys("getrange", "del");
		store.claim(this.key, REQUEST, "owner", MINUTE);
		assertThat(commands(() -> store.complete(this.key, REQUEST, "owner", response, MINUTE)))
			.containsOnlyKeys("getrange", "set");
		assertThat(commands(() -> store.claim(this.key, REQUEST, "rival", MINUTE))).containsOnlyKeys("get", "pttl");
		assertThat(commands(() -> store.claim(this.key, OTHER_REQUEST, "rival", MINUTE))).containsOnlyKeys("get");
		assertThat(commands(() -> store.find(this.key))).containsOnlyKeys("get", "pttl");
		assertThat(commands(() -> store.forget(this.key, "owner"))).containsOnlyKeys("getrange", "del");
	}

	/**
	 * Instances of two versions share their keys while an application is updated.
	 */
	@Test
	void agreesWithTheScriptOfAVersionThatDescribesNoRuns() {
		RunDescription run = new RunDescription("pay", "1@node", false);
		store.claim(this.key, REQUEST, "owner", MINUTE, run);
		assertThat(earlierClaim(REQUEST, "rival")).isEqualTo("PENDING");
		assertThat(earlierClaim(OTHER_REQUEST, "rival")).isEqualTo("MISMATCHED");
		assertThat(earlierClaim(REQUEST, "owner")).isEqualTo("ACQUIRED");
		assertThat(store.find(this.key)).isNotNull().extracting(StoredKey::run).isEqualTo(run);
		store.release(this.key, "owner");

		assertThat(earlierClaim(REQUEST, "owner")).isEqualTo("ACQUIRED");
		assertThat(store.find(this.key)).isNotNull().extracting(StoredKey::run).isNull();
		assertThat(store.claim(this.key, REQUEST, "rival", MINUTE, run)).isInstanceOf(Claim.Pending.class);
		assertThat(store.claim(this.key, OTHER_REQUEST, "rival", MINUTE, run)).isInstanceOf(Claim.Mismatched.class);
		assertThat(store.complete(this.key, REQUEST, "owner", Samples.response("response"), MINUTE)).isTrue();
	}

	@Test
	void writesTheDescriptionWithTheClaim() {
		assertThat(commands(() -> store.claim(this.key, REQUEST, "owner", MINUTE, Samples.run())))
			.containsOnlyKeys("get", "set");
		assertThat(template.keys("*")).isEqualTo(Set.of(PREFIX + this.key.digest()));
	}

	@Test
	void letsTheListExpireWithTheLastClaim() {
		IdempotencyKey longer = Samples.key();
		store.claim(this.key, REQUEST, "owner", MINUTE, Samples.run());
		store.announce(Map.of(longer, MINUTE.multipliedBy(3), this.key, MINUTE));
		store.announce(Map.of(longer, MINUTE));
		assertThat(template.getExpire(PREFIX + "running")).isBetween(121L, 180L);
		assertThat(Objects.requireNonNull(store.findPending(10)).keys()).containsOnlyKeys(this.key);
		assertThat(Objects.requireNonNull(store.findPending(10)).within()).isNull();
	}

	@Test
	void removesFromTheListWhatNobodyHasAnnouncedAgain() {
		store.announce(Map.of(this.key, Duration.ofMillis(1)));
		await().until(() -> {
			store.announce(Map.of(Samples.key(), MINUTE));
			return template.opsForZSet().score(PREFIX + "running", this.key.digest()) == null;
		});
	}

	@Test
	void limitsTheList() {
		Map<IdempotencyKey, Duration> many = Stream.generate(Samples::key)
			.limit(10_500)
			.collect(Collectors.toMap((each) -> each, (each) -> MINUTE));
		many.put(this.key, MINUTE.multipliedBy(2));
		many.entrySet()
			.stream()
			.collect(Collectors.groupingBy((each) -> each.getKey().digest().charAt(0)))
			.values()
			.forEach((part) -> store
				.announce(part.stream().collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue))));
		assertThat(template.opsForZSet().zCard(PREFIX + "running")).isEqualTo(10_000);
		assertThat(template.opsForZSet().score(PREFIX + "running", this.key.digest())).isNotNull();
		assertThat(Objects.requireNonNull(store.findPending(10_000)).within()).isBetween(Duration.ZERO, MINUTE);
	}

	private String earlierClaim(Fingerprint fingerprint, String token) {
		String script = RedisScript
			.of(new ClassPathResource("claim-without-description.lua", RedisIdempotencyStore.class))
			.getScriptAsString();
		try (RedisConnection connection = template.getRequiredConnectionFactory().getConnection()) {
			List<?> reply = connection.scriptingCommands()
				.eval(script.getBytes(StandardCharsets.UTF_8), ReturnType.MULTI, 1,
						(PREFIX + this.key.digest()).getBytes(StandardCharsets.UTF_8),
						RedisValue.pending(token, fingerprint, null), "60000".getBytes(StandardCharsets.UTF_8));
			return new String((byte[]) Objects.requireNonNull(reply).get(0), StandardCharsets.UTF_8);
		}
	}

	@Test
	void replaysAndReleasesWhileTheServerIsOutOfMemory() {
		IdempotencyKey pending = Samples.key();
		store.claim(pending, REQUEST, "owner", MINUTE);
		store.complete(this.key, REQUEST, "owner", Samples.response("response"), MINUTE);
		redis.command("CONFIG SET maxmemory 1");
		try {
			assertThat(store.claim(this.key, REQUEST, "rival", MINUTE))
				.is(Samples.completed(Samples.response("response")));
			assertThat(store.release(pending, "owner")).isTrue();
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
				.isThrownBy(() -> store.claim(Samples.key(), REQUEST, "owner", MINUTE));
		}
		finally {
			redis.command("CONFIG SET maxmemory 0");
		}
		assertThat(template.keys("*")).isEqualTo(Set.of(PREFIX + this.key.digest()));
	}

	private static void askEveryVerb(IdempotencyKey key) {
		assertThat(store.claim(key, REQUEST, "owner", MINUTE)).isEqualTo(new Claim.Acquired());
		assertThat(store.renew(key, "owner", MINUTE)).isTrue();
		assertThat(store.release(key, "owner")).isTrue();
		assertThat(store.complete(key, REQUEST, "owner", Samples.response("response"), MINUTE)).isTrue();
		assertThat(store.find(key)).isNotNull();
		assertThat(store.forget(key, "owner")).isTrue();
	}

	private long timeToLive() {
		return template.getExpire(PREFIX + this.key.digest());
	}

	/**
	 * The commands that one script has run, each once.
	 */
	private static Map<String, Long> commands(Runnable operation) {
		redis.command("CONFIG RESETSTAT");
		operation.run();
		Map<String, Long> calls = statistics();
		calls.keySet().removeIf((command) -> command.startsWith("eval") || SESSION.contains(command));
		assertThat(calls.values()).containsOnly(1L);
		return calls;
	}

	private static long calls(String command) {
		return statistics().getOrDefault(command, 0L);
	}

	private static Map<String, Long> statistics() {
		try (RedisConnection connection = template.getRequiredConnectionFactory().getConnection()) {
			Properties statistics = connection.serverCommands().info("commandstats");
			assertThat(statistics).isNotNull();
			Map<String, Long> calls = new TreeMap<>();
			statistics.stringPropertyNames().forEach((name) -> {
				Matcher count = CALLS.matcher(statistics.getProperty(name));
				assertThat(count.lookingAt()).isTrue();
				calls.put(name.substring("cmdstat_".length()), Long.valueOf(count.group(1)));
			});
			return calls;
		}
	}

	@Nested
	class Fuzz extends AbstractIdempotencyStoreFuzzTests {

		private static final String FUZZ_PREFIX = "fuzz:";

		private final RedisIdempotencyStore fuzzed = new RedisIdempotencyStore(
				IdempotencyRedisConnection.shared(redis.connect()), FUZZ_PREFIX);

		@Override
		protected IdempotencyStore store() {
			return this.fuzzed;
		}

		@Override
		protected void forget(IdempotencyKey key) {
			template.delete(FUZZ_PREFIX + key.digest());
		}

	}

	/**
	 * Tests for {@link RedisIdempotencyStore} on a Cluster.
	 */
	@Tag("long")
	@Nested
	class OnACluster extends IdempotencyStoreContract {

		@RegisterExtension
		static final RealRedisCluster cluster = new RealRedisCluster();

		private static IdempotencyRedisConnection connection;

		private static RedisIdempotencyStore store;

		@BeforeAll
		static void connect() {
			connection = IdempotencyRedisConnection.withTimeout(cluster.client(), Duration.ofSeconds(30));
			store = new RedisIdempotencyStore(connection, "cluster:");
		}

		@AfterAll
		static void disconnect() {
			connection.close();
		}

		@Override
		public IdempotencyStore store() {
			return store;
		}

		@Test
		void distributesKeysOverAllMastersAndFindsThemAgain() {
			List<IdempotencyKey> keys = Stream.generate(Samples::key).limit(300).toList();
			Fingerprint request = Samples.fingerprint("request");
			keys.forEach(
					(key) -> assertThat(store.claim(key, request, "owner", MINUTE)).isEqualTo(new Claim.Acquired()));
			assertThat(masters(keys)).hasSize(3);
			List<StoredResponse> responses = keys.stream().map((key) -> Samples.response("to " + key)).toList();
			for (int i = 0; i < keys.size(); i++) {
				store.complete(keys.get(i), request, "owner", responses.get(i), MINUTE);
			}
			assertThat(keys).extracting((key) -> store.claim(key, request, "rival", MINUTE))
				.extracting((claim) -> ((Claim.Completed) claim).response())
				.isEqualTo(responses);
		}

		private static Set<RedisClusterNode> masters(List<IdempotencyKey> keys) {
			try (RedisClusterConnection nodes = cluster.client().getClusterConnection()) {
				return keys.stream()
					.map((key) -> nodes
						.clusterGetNodeForKey(("cluster:" + key.digest()).getBytes(StandardCharsets.US_ASCII)))
					.collect(Collectors.toSet());
			}
		}

	}

}
