package dev.idempotent.sample.stock;

import java.util.List;
import java.util.UUID;

import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class StockGateIntegrationTests {

	private static final String ANN = "ann";

	private static final String BOB = "bob";

	private final StockGate gate;

	private final StringRedisTemplate redis;

	private final String item = "item-" + UUID.randomUUID();

	private final GateKeys keys;

	StockGateIntegrationTests(@Autowired StockGate gate, @Autowired StringRedisTemplate redis) {
		this.gate = gate;
		this.redis = redis;
		this.keys = new GateKeys(redis, this.item);
	}

	@Test
	void givesAsManyTicketsAsThereAreUnits() {
		load(2);
		assertThat(admit("a", ANN)).isEqualTo(Admission.GO);
		assertThat(admit("b", BOB)).isEqualTo(Admission.GO);
		assertThat(admit("c", "cid")).isEqualTo(Admission.SOLD_OUT);
	}

	@ParameterizedTest
	@ValueSource(ints = 300)
	void isInTheStateOfAModelAfterEachStepOfRandomHistories(int histories) {
		for (int seed = 0; seed < histories; seed++) {
			new GateHistory(this.gate, new GateKeys(this.redis, this.item + seed), seed).play(50);
		}
	}

	private Admission admit(String id, String owner) {
		return this.gate.admit(this.item, id, owner);
	}

	private void load(int free) {
		this.gate.load(this.item, facts(1, free));
	}

	private static StockFacts facts(long version, int free, StockFacts.Owner... owners) {
		return new StockFacts(2, List.of(new StockFacts.Shelf(0, version, free)), List.of(owners));
	}

}
