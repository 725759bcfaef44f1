package dev.idempotent.sample.stock;

import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class StockGateIntegrationTests extends ClusterGate {

	@Test
	void givesEachUnitToOneOfManyConcurrentRequests() {
		load(10);
		List<Admission> admissions = Concurrently.run(50, () -> admit(id(), id()));
		assertThat(admissions).filteredOn(Admission.GO::equals).hasSize(10);
		assertThat(admissions).filteredOn(Admission.SOLD_OUT::equals).hasSize(40);
	}

	@Test
	void admitsARequestAgainThatHasATicket() {
		load(1);
		assertThat(admit("a", "ann")).isEqualTo(Admission.GO);
		assertThat(admit("a", "ann")).isEqualTo(Admission.GO);
		assertThat(this.gate.view(this.item)).hasValue(new GateView(1, 1));
	}

	@Test
	void admitsAnotherRequestOnceATicketIsOverdue() {
		load(1);
		assertThat(admit("a", "ann")).isEqualTo(Admission.GO);
		assertThat(admit("b", "bob")).isEqualTo(Admission.SOLD_OUT);
		this.keys.age();
		assertThat(admit("b", "bob")).isEqualTo(Admission.GO);
		assertThat(admit("a", "ann")).isEqualTo(Admission.GO);
	}

	@Test
	void doesNotRefuseForLongerAfterTheClockWasSetBack() {
		load(1);
		this.redis.opsForZSet().add(this.keys.tickets(), "a", 1e14);
		this.redis.opsForHash().put(this.keys.owners(), "bob", "[1, 1e14, \"c\", \"d\"]");
		assertThat(admit("b", "bob")).isEqualTo(Admission.GO);
	}

	@Test
	void refusesAnOwnerAtTheLimitForAMinuteAfterItWasTold() {
		load(5);
		StockFacts ann = facts(2, 3, owner("ann", 2, "a", "b"));
		this.gate.tell(this.item, "b", ann);
		assertThat(admit("c", "ann")).isEqualTo(Admission.LIMIT);
		assertThat(admit("a", "ann")).isEqualTo(Admission.GO);
		assertThat(admit("c", "bob")).isEqualTo(Admission.GO);
		this.keys.age();
		assertThat(admit("c", "ann")).isEqualTo(Admission.GO);
		this.gate.tell(this.item, "c", ann);
		assertThat(admit("c", "ann")).isEqualTo(Admission.LIMIT);
	}

	@Test
	void sellsAgainOnceAUnitWasGivenBack() {
		load(1);
		this.gate.tell(this.item, "a", facts(2, 0, owner("ann", 1, "a")));
		assertThat(admit("b", "bob")).isEqualTo(Admission.SOLD_OUT);
		this.gate.tell(this.item, "a", facts(3, 1, owner("ann", 2)));
		assertThat(admit("b", "bob")).isEqualTo(Admission.GO);
	}

	@Test
	void isNeitherMadeNorChangedByATellingWithoutAGate() {
		load(1);
		assertThat(admit("a", "ann")).isEqualTo(Admission.GO);
		this.redis.delete(this.keys.shelves());
		this.gate.tell(this.item, "a", facts(2, 0, owner("ann", 1, "a")));
		assertThat(admit("b", "bob")).isEqualTo(Admission.ABSENT);
		load(1);
		assertThat(admit("b", "bob")).isEqualTo(Admission.SOLD_OUT);
		assertThat(admit("a", "ann")).isEqualTo(Admission.GO);
	}

	@ParameterizedTest
	@ValueSource(strings = { "{", "}", "{}", "a}b{c", "}{", "tea for two", "茶", "100 % + more" })
	void servesAnItemOfAnyName(String name) {
		StockFacts facts = facts(1, 1);
		this.gate.load(name, facts);
		assertThat(this.gate.admit(name, "a", "ann")).isEqualTo(Admission.GO);
		assertThat(this.gate.view(name)).hasValue(new GateView(1, 1));
		this.gate.reset(name, facts);
	}

	@Test
	void isKeptForADayAfterItsUse() {
		load(2);
		this.gate.tell(this.item, null, facts(1, 2, owner("ann", 1)));
		admit("a", "ann");
		assertThat(this.keys.names())
			.allSatisfy((key) -> assertThat(this.redis.getExpire(key)).isBetween(86_000L, 86_400L));
	}

	@ParameterizedTest
	@ValueSource(strings = { "load", "reset" })
	void knowsMoreOwnersThanOneScriptIsToldOf(String mode) {
		StockFacts.Owner[] owners = IntStream.range(0, 1201)
			.mapToObj((number) -> owner("owner-" + number, 1, "a" + number, "b" + number))
			.toArray(StockFacts.Owner[]::new);
		this.redis.opsForHash().put(this.keys.owners(), "ann", "[9,0]");
		if (mode.equals("load")) {
			this.gate.load(this.item, facts(1, 5, owners));
		}
		else {
			this.gate.reset(this.item, facts(1, 5, owners));
		}
		assertThat(this.redis.opsForHash().size(this.keys.owners())).isEqualTo(mode.equals("load") ? 1202 : 1201);
		assertThat(admit("c", "owner-0")).isEqualTo(Admission.LIMIT);
		assertThat(admit("c", "owner-1200")).isEqualTo(Admission.LIMIT);
		assertThat(this.gate.view(this.item)).hasValue(new GateView(5, 0));
	}

	@ParameterizedTest
	@ValueSource(ints = 100)
	void isInTheStateOfAModelAfterEachStepOfRandomHistories(int histories) {
		for (int seed = 0; seed < histories; seed++) {
			new GateHistory(this.gate, new GateKeys(this.redis, this.item + seed), seed).play(50);
		}
	}

	private static String id() {
		return UUID.randomUUID().toString();
	}

}
