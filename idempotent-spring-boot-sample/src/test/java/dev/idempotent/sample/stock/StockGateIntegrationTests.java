package dev.idempotent.sample.stock;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.StringRedisTemplate;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Runs against a Redis Cluster, which is stricter than one Redis.
 */
class StockGateIntegrationTests {

	private static final int PER_USER = 2;

	@TempDir
	private static Path folder;

	private static ClusterRedis cluster;

	private final String item = "item-" + UUID.randomUUID();

	private final StringRedisTemplate redis = cluster.template();

	private final StockGate gate = new StockGate(this.redis, JsonMapper.shared());

	private final GateKeys keys = new GateKeys(this.redis, this.item);

	@BeforeAll
	static void start() {
		cluster = ClusterRedis.start(folder);
	}

	@AfterAll
	static void stop() throws IOException {
		cluster.close();
	}

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
	void doesNotCountATicketForLongerAfterTheClockWasSetBack() {
		load(1);
		this.redis.opsForZSet().add(this.keys.tickets(), "a", 1e14);
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
	@ValueSource(strings = { "limit", "units" })
	void admitsNobodyWithoutAField(String field) {
		load(1);
		this.redis.opsForHash().delete(this.keys.shelves(), field);
		assertThat(admit("a", "ann")).isEqualTo(Admission.ABSENT);
		assertThat(this.gate.view(this.item)).isEmpty();
		assertThat(this.gate.read(this.item).orElseThrow().contradicts(facts(1, 1))).isTrue();
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void isAbsentAndChangedByAResetOnlyIfAKeyIsOfAnotherType(int number) {
		load(1);
		this.gate.tell(this.item, "", facts(1, 1, owner("ann", 1, "a")));
		String key = this.keys.names().get(number);
		this.redis.delete(key);
		this.redis.opsForValue().set(key, "something else");
		List<Object> before = this.keys.contents();
		assertThat(admit("b", "bob")).isEqualTo(Admission.ABSENT);
		StockFacts facts = facts(7, 3, owner("ann", 7, "b"));
		assertFails(() -> this.gate.tell(this.item, "b", facts));
		assertFails(() -> this.gate.load(this.item, facts));
		assertThat(this.keys.contents()).isEqualTo(before);
		assertThat(this.gate.view(this.item)).isEmpty();
		assertThat(this.gate.read(this.item).orElseThrow().contradicts(facts)).isTrue();
		this.gate.reset(this.item, facts);
		assertThat(this.gate.view(this.item)).hasValue(new GateView(3, 0));
	}

	@Test
	void replacesTheValueOfAnOwnerThatCannotBeRead() {
		load(5);
		this.redis.opsForHash().putAll(this.keys.owners(), Map.of("ann", "[", "bob", "5"));
		assertThat(admit("a", "ann")).isEqualTo(Admission.GO);
		assertThat(admit("b", "bob")).isEqualTo(Admission.GO);
		this.gate.tell(this.item, null, facts(2, 1, owner("ann", 1, "a", "x"), owner("bob", 1, "b", "y")));
		assertThat(admit("c", "ann")).isEqualTo(Admission.LIMIT);
		assertThat(admit("c", "bob")).isEqualTo(Admission.LIMIT);
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "", "{}", "{\"perUser\": 2, \"shelves\": [{\"number\": 0, \"version\": 9}], \"owners\": []}",
					"{\"perUser\": null, \"shelves\": [{\"number\": 0, \"version\": 9, \"free\": 9}], \"owners\": []}",
					"{\"perUser\": 2, \"shelves\": [{\"number\": 0, \"version\": 9, \"free\": 9}]}",
					"{\"perUser\": 2, \"shelves\": [{\"number\": 0, \"version\": 9, \"free\": -1}], \"owners\": []}",
					"{\"perUser\": 2, \"shelves\": [{\"number\": 0, \"version\": 9.5, \"free\": 9}], \"owners\": []}" })
	void isNotChangedByFactsThatCannotBeTrue(String facts) {
		load(1);
		assertThat(admit("a", "ann")).isEqualTo(Admission.GO);
		List<Object> before = this.keys.contents();
		Stream.of("tell", "load", "reset")
			.forEach((mode) -> assertFails(
					() -> this.redis.execute(StockGate.TELL, this.keys.names(), mode, "a", facts)));
		assertThat(this.keys.contents()).isEqualTo(before);
	}

	@Test
	void isChangedAsAWholeOrNotWithoutMemory() {
		load(2);
		assertThat(admit("a", "ann")).isEqualTo(Admission.GO);
		cluster.commands().configSet("maxmemory", "1");
		try {
			assertFails(() -> admit("b", "bob"));
			this.gate.tell(this.item, "a", facts(2, 1, owner("ann", 1, "a")));
			assertThat(this.gate.view(this.item)).hasValue(new GateView(1, 0));
		}
		finally {
			cluster.commands().configSet("maxmemory", "0");
		}
		assertThat(admit("b", "bob")).isEqualTo(Admission.GO);
		assertThat(admit("a", "ann")).isEqualTo(Admission.GO);
	}

	@Test
	void runsItsScriptsAfterRedisHasLostThem() {
		load(1);
		cluster.commands().scriptFlush();
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

	private static void assertFails(ThrowingCallable call) {
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(call);
	}

	private static String id() {
		return UUID.randomUUID().toString();
	}

	private static StockFacts facts(long version, int free, StockFacts.Owner... owners) {
		return new StockFacts(PER_USER, List.of(new StockFacts.Shelf(0, version, free)), List.of(owners));
	}

	private static StockFacts.Owner owner(String owner, long version, String... ids) {
		return new StockFacts.Owner(owner, version, List.of(ids));
	}

}
