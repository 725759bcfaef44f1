package dev.idempotent.outbox.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.relay.OutboxRelay;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedisCluster;
import io.lettuce.core.cluster.SlotHash;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Publication to a Cluster with an unavailable master.
 */
class RedisShardOutageIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@RegisterExtension
	static final RealRedisCluster cluster = new RealRedisCluster();

	@Test
	void deliversToAvailableMasters() throws Exception {
		List<String> properties = new ArrayList<>(postgres.properties());
		properties.addAll(cluster.properties());
		properties.addAll(List.of("idempotent.outbox.table-prefix=shard_", "idempotent.outbox.redis.timeout=500ms"));
		String there = streamOfAnotherMasterThan("away");
		try (ConfigurableApplicationContext shop = OutboxApplication.start(properties, Redis.class)) {
			append(shop, "away", 1);
			append(shop, there, 1);
			await().untilAsserted(() -> assertThat(pending(shop)).isZero());
			cluster.stopMasterOf("away");
			append(shop, "away", 30);
			append(shop, there, 20);
			Streams streams = new Streams(cluster.client());
			await().atMost(ofSeconds(60)).untilAsserted(() -> assertThat(pending(shop)).isEqualTo(30));
			assertThat(ids(streams, there)).hasSize(21);
			await().untilAsserted(() -> assertThat(shop.getBean(OutboxRelay.class).unavailableDestinations())
				.containsExactly("redis-stream:away"));
			append(shop, there, 5);
			await().atMost(ofSeconds(60)).untilAsserted(() -> assertThat(ids(streams, there)).hasSize(26));
			assertThat(pending(shop)).isGreaterThanOrEqualTo(30);
		}
	}

	/**
	 * An event whose reply was lost is added twice.
	 */
	private static Set<String> ids(Streams streams, String stream) {
		return streams.entries(stream)
			.stream()
			.map((entry) -> String.valueOf(Streams.fields(entry).get("ce_id")))
			.collect(Collectors.toSet());
	}

	private static String streamOfAnotherMasterThan(String other) {
		// Each of the three masters has a contiguous third of the slots.
		int third = SlotHash.SLOT_COUNT / 3 + 1;
		return IntStream.range(0, 100)
			.mapToObj((i) -> "there-" + i)
			.filter((stream) -> SlotHash.getSlot(stream) / third != SlotHash.getSlot(other) / third)
			.findFirst()
			.orElseThrow();
	}

	private static void append(ConfigurableApplicationContext shop, String stream, int count) {
		TransactionTemplate template = new TransactionTemplate(shop.getBean(PlatformTransactionManager.class));
		for (int i = 0; i < count; i++) {
			template.executeWithoutResult((status) -> shop.getBean(Outbox.class)
				.append(OutboxEvent.of("type", "payload").toTopic("redis-stream:" + stream)));
		}
	}

	private static int pending(ConfigurableApplicationContext shop) {
		return shop.getBean(JdbcClient.class).sql("select count(*) from shard_event").query(Integer.class).single();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DataRedisAutoConfiguration.class)
	static class Redis {

	}

}
