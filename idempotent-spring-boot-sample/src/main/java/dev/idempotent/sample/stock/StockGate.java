package dev.idempotent.sample.stock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/**
 * The gate in Redis, which decides which requests reach the ledger. It may be wrong or
 * empty, because the ledger decides about units. Methods throw a
 * {@link DataAccessException} if Redis does not answer in time or refuses a command.
 */
@Component
public class StockGate {

	private static final RedisScript<String> ADMIT = script("admit.lua");

	static final RedisScript<String> TELL = script("tell.lua");

	private static final RedisScript<String> READ = script("read.lua");

	/**
	 * Keeps each script short, and its arguments within what Lua can unpack.
	 */
	private static final int OWNERS_PER_CALL = 500;

	private final StringRedisTemplate redis;

	private final JsonMapper json;

	StockGate(StringRedisTemplate redis, JsonMapper json) {
		this.redis = redis;
		this.json = json;
	}

	/**
	 * Returns what the gate knows of a sale, or nothing if it does not know it.
	 */
	public Optional<GateView> view(String item) {
		return read(item).flatMap(GateState::view);
	}

	/**
	 * Returns the state of the gate, or nothing if there is none.
	 */
	Optional<GateState> read(String item) {
		return Optional.ofNullable(run(READ, item)).map((state) -> this.json.readValue(state, GateState.class));
	}

	/**
	 * Admits the request with the given id, or refuses it.
	 */
	Admission admit(String item, String reservationId, String owner) {
		String admission = run(ADMIT, item, reservationId, owner);
		return (admission != null) ? Admission.valueOf(admission) : Admission.ABSENT;
	}

	/**
	 * Tells the gate what was committed, and ends the ticket of a request. Does nothing
	 * if the gate does not know the sale; older facts than it has are ignored.
	 */
	void tell(String item, @Nullable String reservationId, StockFacts facts) {
		send("tell", item, (reservationId != null) ? reservationId : "", facts);
	}

	/**
	 * Tells the gate what was committed, and makes one if the gate does not know the
	 * sale.
	 * @param facts facts about all shelves and owners
	 */
	void load(String item, StockFacts facts) {
		send("load", item, "", facts);
	}

	/**
	 * Replaces what the gate knows of a sale.
	 * @param facts facts about all shelves and owners
	 */
	void reset(String item, StockFacts facts) {
		send("reset", item, "", facts);
	}

	/**
	 * Sends the owners first and the shelves last, because the gate knows the sale as
	 * soon as it knows the shelves.
	 */
	private void send(String mode, String item, String reservationId, StockFacts facts) {
		String current = mode;
		List<StockFacts.Owner> owners = facts.owners();
		while (owners.size() > OWNERS_PER_CALL) {
			tell(current, item, "", new StockFacts(facts.perUser(), List.of(), owners.subList(0, OWNERS_PER_CALL)));
			owners = owners.subList(OWNERS_PER_CALL, owners.size());
			current = current.equals("reset") ? "load" : current;
		}
		tell(current, item, reservationId, new StockFacts(facts.perUser(), facts.shelves(), owners));
	}

	private void tell(String mode, String item, String reservationId, StockFacts facts) {
		run(TELL, item, mode, reservationId, this.json.writeValueAsString(facts));
	}

	private @Nullable String run(RedisScript<String> script, String item, Object... arguments) {
		return this.redis.execute(script, keys(item), arguments);
	}

	/**
	 * The braces put all keys of a sale into one slot of a cluster, so the item must not
	 * have any.
	 */
	static List<String> keys(String item) {
		String sale = "sale:{" + URLEncoder.encode(item, StandardCharsets.UTF_8) + "}:";
		return List.of(sale + "shelves", sale + "tickets", sale + "owners");
	}

	private static RedisScript<String> script(String file) {
		try {
			String text = new ClassPathResource(file, StockGate.class).getContentAsString(StandardCharsets.UTF_8);
			return RedisScript.of(text, String.class);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
