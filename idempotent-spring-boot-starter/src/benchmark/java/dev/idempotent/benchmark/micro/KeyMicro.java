package dev.idempotent.benchmark.micro;

import dev.idempotent.idempotency.IdempotencyKey;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * The stored form of a key.
 */
@State(Scope.Benchmark)
public class KeyMicro {

	private String header = "8e03978e-40d5-43dd-bc93-6894a57f9324";

	/**
	 * The key of a header, for callers without a scope.
	 * @return the key
	 */
	@Benchmark
	public IdempotencyKey key() {
		return IdempotencyKey.of(IdempotencyKey.Kind.HEADER, "shop", "", "", this.header);
	}

}
