package dev.idempotent.sample.rush;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Map;

import com.sun.net.httpserver.HttpServer;
import dev.idempotent.sample.rush.RushTally.Promise;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The shop says that each reservation has ended.
 */
class RepetitionTests {

	private HttpServer server;

	private Repetition repetition;

	@BeforeEach
	void start() throws IOException {
		this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		this.server.createContext("/", (exchange) -> {
			exchange.sendResponseHeaders(410, -1);
			exchange.close();
		});
		this.server.start();
		URI shop = URI.create("http://127.0.0.1:" + this.server.getAddress().getPort());
		this.repetition = new Repetition(new ShopHttp(List.of(shop)));
	}

	@AfterEach
	void stop() {
		this.server.stop(0);
	}

	@Test
	void acceptsReservationsThatHaveEnded() {
		this.repetition.repeat(promise("key", "id", "12:00"));
		this.repetition.repeat(promise("other", "id-2", "12:00"));
		assertThat(result().problems()).isEmpty();
		assertThat(result().ended()).containsExactlyInAnyOrder("id", "id-2");
	}

	@Test
	void findsDifferentPromisesForOneKey() {
		this.repetition.repeat(promise("key", "id", "12:00"));
		this.repetition.repeat(promise("key", "id", "12:01"));
		assertThat(result().problems()).hasSize(1);
	}

	@Test
	void findsAReservationThatWasPromisedForTwoKeys() {
		this.repetition.repeat(promise("key", "id", "12:00"));
		this.repetition.repeat(promise("other", "id", "12:00"));
		assertThat(result().problems()).hasSize(1);
	}

	private Recheck result() {
		return this.repetition.result(Map.of(), null);
	}

	private static Promise promise(String key, String id, String expiresAt) {
		return new Promise(new Ask("/unit", key, "{}"), """
				{"reservationId": "%s", "userId": "ann", "expiresAt": "%s"}""".formatted(id, expiresAt));
	}

}
