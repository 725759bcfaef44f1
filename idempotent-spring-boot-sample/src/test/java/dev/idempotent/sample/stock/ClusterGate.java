package dev.idempotent.sample.stock;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.data.redis.core.StringRedisTemplate;
import tools.jackson.databind.json.JsonMapper;

/**
 * A gate in a Redis Cluster, which is stricter than one Redis.
 */
@SuppressWarnings("NullAway.Init")
abstract class ClusterGate {

	static ClusterRedis cluster;

	@TempDir
	private static Path folder;

	final String item = "item-" + UUID.randomUUID();

	final StringRedisTemplate redis = cluster.template();

	final StockGate gate = new StockGate(this.redis, JsonMapper.shared());

	final GateKeys keys = new GateKeys(this.redis, this.item);

	@BeforeAll
	static void start() {
		cluster = ClusterRedis.start(folder);
	}

	@AfterAll
	static void stop() throws IOException {
		cluster.close();
	}

	Admission admit(String id, String owner) {
		return this.gate.admit(this.item, id, owner);
	}

	/**
	 * Loads the gate of a sale of one shelf.
	 */
	void load(int free) {
		this.gate.load(this.item, facts(1, free));
	}

	static StockFacts facts(long version, int free, StockFacts.Owner... owners) {
		return new StockFacts(2, List.of(new StockFacts.Shelf(0, version, free)), List.of(owners));
	}

	static StockFacts.Owner owner(String owner, long version, String... ids) {
		return new StockFacts.Owner(owner, version, List.of(ids));
	}

}
