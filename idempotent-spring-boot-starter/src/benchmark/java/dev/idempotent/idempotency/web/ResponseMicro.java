package dev.idempotent.idempotency.web;

import java.io.IOException;
import java.util.List;
import java.util.Objects;

import dev.idempotent.benchmark.micro.Documents;
import dev.idempotent.idempotency.StoredResponse;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.springframework.mock.web.MockHttpServletResponse;

/**
 * What is done to a response: buffered, captured, encoded, and decoded for a replay. In
 * the package of these classes, which are not public.
 */
@State(Scope.Thread)
public class ResponseMicro {

	/**
	 * About how many bytes the body has.
	 */
	@Param({ "200", "10000", "500000" })
	public int size;

	private byte[] body = new byte[0];

	private StoredResponse stored = StoredResponse.notKept();

	/**
	 * Writes the body.
	 * @throws IOException never
	 */
	@Setup
	public void write() throws IOException {
		this.body = Documents.order(this.size);
		this.stored = encode();
	}

	/**
	 * Buffers, captures and encodes a response. Includes the response of the test double
	 * behind it, as {@link #plain()} does.
	 * @return what is stored
	 * @throws IOException never
	 */
	@Benchmark
	public StoredResponse encode() throws IOException {
		BufferedResponse response = BufferedResponse.streaming(new MockHttpServletResponse(), 1_000_000, () -> false);
		response.setStatus(201);
		response.setContentType("application/json");
		response.setHeader("Location", "/orders/4711");
		response.getOutputStream().write(this.body);
		return response.capture().encode();
	}

	/**
	 * Writes the same response without a buffer.
	 * @return the response
	 * @throws IOException never
	 */
	@Benchmark
	public Object plain() throws IOException {
		MockHttpServletResponse response = new MockHttpServletResponse();
		response.setStatus(201);
		response.setContentType("application/json");
		response.setHeader("Location", "/orders/4711");
		response.getOutputStream().write(this.body);
		return List.of(response);
	}

	/**
	 * Decodes a stored response.
	 * @return the response
	 */
	@Benchmark
	public Object decode() {
		return Objects.requireNonNull(CapturedResponse.decode(this.stored));
	}

}
