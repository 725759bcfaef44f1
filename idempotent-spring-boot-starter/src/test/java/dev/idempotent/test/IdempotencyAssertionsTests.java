package dev.idempotent.test;

import java.util.HashSet;
import java.util.Set;

import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MockMvcTester.MockMvcRequestBuilder;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.test.IdempotencyAssertions.replays;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link IdempotencyAssertions}.
 */
class IdempotencyAssertionsTests {

	private final Handlers handlers = new Handlers();

	private final MockMvcTester mvc = MockMvcTester.of(this.handlers);

	@Test
	void returnsTheFirstResponse() {
		assertThat(replays(post("/same"))).hasStatusOk()
			.hasBodyTextEqualTo("same")
			.doesNotContainHeader("Idempotent-Replayed");
	}

	@Test
	void sendsANewKeyWithEachUseUnlessTheRequestHasOne() {
		replays(post("/same"));
		replays(post("/same"));
		replays(post("/same").header("Idempotency-Key", "one"));
		assertThat(this.handlers.keys).hasSize(3).contains("one");
	}

	@Test
	void acceptsAMultipartRequest() {
		assertThat(replays(post("/same").multipart().file("file", new byte[] { 1 }))).hasStatusOk();
	}

	@Test
	void failsIfTheHandlerRunsAgain() {
		assertFails("/again", "has no header Idempotent-Replayed", "POST /again -> 200", "run 1", "run 2");
	}

	@Test
	void failsIfTheReplayDiffers() {
		assertFails("/different", "replay of POST /different", "run 1", "run 2");
	}

	@Test
	void failsIfTheFirstResponseIsAReplay() {
		post("/same").header("Idempotency-Key", "used").exchange();
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> replays(post("/same").header("Idempotency-Key", "used")))
			.withMessageContaining("the key has been used before");
	}

	@Test
	void failsWithTheExceptionOfTheHandler() {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> replays(post("/broken")))
			.withMessageContaining("no @ExceptionHandler handles")
			.withRootCauseInstanceOf(IllegalStateException.class);
	}

	private void assertFails(String path, String... parts) {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> replays(post(path)))
			.satisfies((failure) -> assertThat(failure).message().contains(parts));
	}

	private MockMvcRequestBuilder post(String path) {
		return this.mvc.post().uri(path);
	}

	@RestController
	static class Handlers {

		private final Set<String> keys = new HashSet<>();

		private int runs;

		@PostMapping("/same")
		String same(@RequestHeader("Idempotency-Key") String key, HttpServletResponse response) {
			markReplay(key, response);
			return "same";
		}

		@PostMapping("/different")
		String different(@RequestHeader("Idempotency-Key") String key, HttpServletResponse response) {
			markReplay(key, response);
			return again();
		}

		@PostMapping("/again")
		String again() {
			return "run " + ++this.runs;
		}

		@PostMapping("/broken")
		String fail() {
			throw new IllegalStateException("broken");
		}

		private void markReplay(String key, HttpServletResponse response) {
			if (!this.keys.add(key)) {
				response.setHeader("Idempotent-Replayed", "true");
			}
		}

	}

}
