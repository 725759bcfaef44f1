package dev.idempotent.benchmark.micro;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.canonical.CanonicalJson;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The fingerprint of a JSON body, beside a tree of it and the digest of its bytes.
 */
@State(Scope.Thread)
public class FingerprintMicro {

	/**
	 * About how many bytes the body has.
	 */
	@Param({ "200", "10000", "500000" })
	public int size;

	private final JsonMapper mapper = new JsonMapper();

	private final CanonicalJson canonical = CanonicalJson.without(Set.of());

	private byte[] body = new byte[0];

	/**
	 * Writes the body.
	 */
	@Setup
	public void write() {
		this.body = Documents.order(this.size);
	}

	/**
	 * What the starter computes.
	 * @return the fingerprint
	 */
	@Benchmark
	public Fingerprint fingerprint() {
		return Fingerprint.of(List.of(Objects.requireNonNull(this.canonical.encode(this.body))));
	}

	/**
	 * What a handler computes that reads a tree.
	 * @return the tree
	 */
	@Benchmark
	public JsonNode readTree() {
		return this.mapper.readTree(this.body);
	}

	/**
	 * The limit: a digest that depends on white space and the order of names.
	 * @return the digest
	 * @throws NoSuchAlgorithmException never
	 */
	@Benchmark
	public byte[] sha256() throws NoSuchAlgorithmException {
		return MessageDigest.getInstance("SHA-256").digest(this.body);
	}

}
