package dev.idempotent.idempotency.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.test.IdempotencyStoreContract;
import dev.idempotent.testing.RealRedisCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RedisIdempotencyStore} on a Cluster.
 */
@Tag("long")
class RedisClusterIntegrationTests extends IdempotencyStoreContract {

	private static final Duration MINUTE = Duration.ofMinutes(1);

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
		keys.forEach((key) -> assertThat(store.claim(key, request, "owner", MINUTE)).isEqualTo(new Claim.Acquired()));
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
