package dev.idempotent.benchmark.micro;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.idempotency.method.MethodArguments;
import dev.idempotent.idempotency.method.ResultCodec;
import dev.idempotent.idempotency.operation.KeyExpression;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a call of a method computes of a record of five members, beside the JSON of that
 * record.
 */
@State(Scope.Thread)
public class MethodMicro {

	private final JsonMapper mapper = new JsonMapper();

	private final CanonicalValues values = new CanonicalValues(List.of());

	private final Order order = new Order("8e03978e-40d5-43e8-bc93-6894a57f9324", "coupon", 3, new BigDecimal("19.90"),
			Instant.parse("2026-01-01T12:00:00Z"));

	private final Object[] call = { this.order };

	private final MethodArguments arguments = new MethodArguments(
			AnnotatedMethod.findAll(Idempotent.class, Orders.class).get(0), new String[0], this.values, "");

	private final KeyExpression key = KeyExpression.parse("#order", Set.of("order"), this.values);

	private final ResultCodec codec = new ResultCodec(this.mapper, this.values, this.mapper.constructType(Order.class),
			"place");

	/**
	 * The key of a call whose expression yields the record.
	 * @return the key
	 */
	@Benchmark
	public @Nullable String key() {
		return this.key.evaluate(Map.of("order", this.order));
	}

	/**
	 * The fingerprint of a call with the record as its argument.
	 * @return the fingerprint
	 */
	@Benchmark
	public Fingerprint fingerprint() {
		return this.arguments.fingerprint(this.call);
	}

	/**
	 * The stored form of a result, which is read back and compared.
	 * @return the stored form
	 */
	@Benchmark
	public StoredResponse result() {
		return this.codec.encode(this.order);
	}

	/**
	 * The JSON of the record.
	 * @return the JSON
	 */
	@Benchmark
	public byte[] json() {
		return this.mapper.writeValueAsBytes(this.order);
	}

	/**
	 * The JSON of the record, read back.
	 * @return another record
	 */
	@Benchmark
	public Order jsonAndBack() {
		return this.mapper.readValue(this.mapper.writeValueAsBytes(this.order), Order.class);
	}

	/**
	 * The record.
	 *
	 * @param id an id
	 * @param item a text
	 * @param amount a number
	 * @param price a decimal number
	 * @param placedAt a time
	 */
	public record Order(String id, String item, int amount, BigDecimal price, Instant placedAt) {
	}

	static class Orders {

		@Idempotent(name = "place", key = "#order")
		void place(Order order) {
		}

	}

}
