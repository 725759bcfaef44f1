package dev.idempotent.idempotency.web.matrix;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;

/**
 * A response as seen by a client: status, headers by lower-case name, and the decoded
 * body, each byte as one character.
 */
record Answer(int status, Map<String, List<String>> headers, String body) {

	private static final String REPLAYED = "idempotent-replayed";

	/**
	 * Headers that differ between responses, or with and without a key.
	 */
	private static final Set<String> LEFT_OUT = Set.of("date", "idempotency-receipt");

	/**
	 * The same body may be sent in one piece or in chunks, and a container may close a
	 * connection whose request was not read; the filter reads it.
	 */
	private static final Set<String> FRAMING = Set.of("connection", "content-length", "transfer-encoding");

	private static final List<String> JETTYS_CACHE_CONTROL = List.of("must-revalidate,no-cache,no-store");

	static Answer of(HttpResponse<byte[]> response) {
		Map<String, List<String>> headers = new TreeMap<>();
		response.headers().map().forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values));
		headers.keySet().removeAll(LEFT_OUT);
		boolean compressed = List.of("gzip").equals(headers.get("content-encoding"));
		byte[] body = (compressed && response.body().length > 0) ? unzip(response.body()) : response.body();
		return new Answer(response.statusCode(), headers, new String(body, StandardCharsets.ISO_8859_1));
	}

	boolean isReplayed() {
		return List.of("true").equals(this.headers.get(REPLAYED));
	}

	/**
	 * The response without the header of a replay.
	 */
	Answer unmarked() {
		return without(Set.of(REPLAYED));
	}

	/**
	 * The response without the headers that Jetty adds to error pages.
	 */
	Answer withoutJettysOwn() {
		return JETTYS_CACHE_CONTROL.equals(this.headers.get("cache-control")) ? without(Set.of("cache-control")) : this;
	}

	/**
	 * The response without framing headers, and with each header value once: Spring
	 * Security may write its headers twice if another thread commits the response. It may
	 * then also lose those that it writes after {@code Cache-Control}.
	 */
	Answer unframed() {
		Answer unframed = without(FRAMING).without(Set.of("pragma", "expires"));
		unframed.headers.replaceAll((name, values) -> values.stream().distinct().toList());
		return unframed;
	}

	private Answer without(Set<String> names) {
		Map<String, List<String>> others = new TreeMap<>(this.headers);
		others.keySet().removeAll(names);
		return new Answer(this.status, others, this.body);
	}

	private static byte[] unzip(byte[] bytes) {
		try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
			return in.readAllBytes();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
