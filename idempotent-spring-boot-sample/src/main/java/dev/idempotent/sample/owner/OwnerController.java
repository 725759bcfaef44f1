package dev.idempotent.sample.owner;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Passes requests to a second JVM, which becomes the owner of their checkout.
 */
@RestController
@RequestMapping("/api/chaos/checkout")
@Profile("!" + OwnerRole.PROFILE)
@ConditionalOnBooleanProperty(name = "sample.chaos.enabled", matchIfMissing = true)
class OwnerController {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	private final Owners owners;

	OwnerController(Owners owners) {
		this.owners = owners;
	}

	@GetMapping
	Owners.State state() {
		return this.owners.state();
	}

	/**
	 * Starts a second JVM ahead of the first checkout, and does not wait for it.
	 */
	@PostMapping("/prepare")
	Owners.State prepare() {
		this.owners.prepare();
		return this.owners.state();
	}

	@PostMapping
	ResponseEntity<String> place(@RequestHeader("Idempotency-Key") String key, @RequestBody String body)
			throws InterruptedException {
		return forward("/api/checkout", key, body);
	}

	@PostMapping("/start")
	ResponseEntity<String> start(@RequestHeader("Idempotency-Key") String key, @RequestBody String body)
			throws InterruptedException {
		return forward("/api/checkout/start", key, body);
	}

	private ResponseEntity<String> forward(String path, String key, String body) throws InterruptedException {
		OwnerProcess owner = this.owners.take(key);
		HttpRequest request = HttpRequest.newBuilder(owner.address().join().resolve(path))
			.timeout(TIMEOUT)
			.header("Content-Type", MediaType.APPLICATION_JSON_VALUE)
			.header("Idempotency-Key", key)
			.POST(BodyPublishers.ofString(body))
			.build();
		try {
			HttpResponse<String> response = this.client.send(request, BodyHandlers.ofString());
			if (response.statusCode() >= HttpStatus.BAD_REQUEST.value()) {
				// It has nothing to do, and another one may be needed.
				owner.kill();
			}
			return ResponseEntity.status(response.statusCode())
				.header("Content-Type", response.headers().firstValue("Content-Type").orElse("application/json"))
				.body(response.body());
		}
		catch (IOException ex) {
			throw OwnerUnavailableException.crashed();
		}
	}

}
