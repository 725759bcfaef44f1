package dev.idempotent.sample.stock;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class StockGateFaultsIntegrationTests extends ClusterGate {

	@ParameterizedTest
	@ValueSource(strings = { "limit", "units" })
	void isAbsentWithoutAField(String field) {
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

	@Test
	void failsIfRedisIsNotThere() {
		assertThatExceptionOfType(RedisConnectionFailureException.class).isThrownBy(() -> admitAt(1, (redis) -> {
		}));
	}

	@Test
	void failsIfRedisDoesNotAnswerInTime() {
		// On a busy machine, the connection or the admission can miss the pause.
		Awaitility.await()
			.atMost(Duration.ofMinutes(1))
			.ignoreExceptionsInstanceOf(RedisConnectionFailureException.class)
			.untilAsserted(() -> assertThatExceptionOfType(QueryTimeoutException.class)
				.isThrownBy(() -> admitAt(cluster.port(), (redis) -> {
					redis.hasKey("any");
					cluster.commands().clientPause(1000);
				})));
	}

	/**
	 * Admits a request with a timeout of 300 ms.
	 */
	private static void admitAt(int port, Consumer<StringRedisTemplate> before) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", port),
				LettuceClientConfiguration.builder().commandTimeout(Duration.ofMillis(300)).build());
		connections.start();
		try {
			StringRedisTemplate redis = new StringRedisTemplate(connections);
			before.accept(redis);
			new StockGate(redis, JsonMapper.shared()).admit("tea", "a", "ann");
		}
		finally {
			connections.destroy();
		}
	}

	private static void assertFails(ThrowingCallable call) {
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(call);
	}

}
