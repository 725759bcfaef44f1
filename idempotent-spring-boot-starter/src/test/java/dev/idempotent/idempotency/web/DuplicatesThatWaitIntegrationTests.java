package dev.idempotent.idempotency.web;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.testing.Gate;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Duplicates of an operation under {@code OnPending.WAIT}.
 */
class DuplicatesThatWaitIntegrationTests {

	private static final String KEY = "Idempotency-Key";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@SuppressWarnings("NullAway.Init")
	private static WebApplication application;

	@SuppressWarnings("NullAway.Init")
	private static WebApplication other;

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void startBoth() {
		application = WebApplication.start(OperationsApplication.class, redis);
		other = WebApplication.start(OperationsApplication.class, redis);
	}

	@AfterAll
	static void stop() {
		application.close();
		other.close();
	}

	@Test
	void receiveTheResponseOfTheFirstRequest() throws Exception {
		Gate gate = application.bean(Operations.class).closeGate();
		CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/awaited", "", KEY, this.key);
		gate.awaitEntry();
		List<CompletableFuture<HttpResponse<byte[]>>> duplicates = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			duplicates.add(application.postAsync("/awaited", "", KEY, this.key));
			duplicates.add(other.postAsync("/awaited", "", KEY, this.key));
		}
		gate.open();

		assertThat(text(first.join())).isEqualTo("through");
		assertThat(duplicates).allSatisfy((duplicate) -> {
			assertThat(text(duplicate.join())).isEqualTo("through");
			assertThat(duplicate.join().headers().firstValue("Idempotent-Replayed")).hasValue("true");
		});
		assertThat(application.bean(Operations.class).runs()).isOne();
		assertThat(other.bean(Operations.class).runs()).isZero();
	}

	@Test
	void receive409AfterTheTimeout() throws Exception {
		try (WebApplication impatient = WebApplication.start(OperationsApplication.class, redis,
				"idempotent.web.wait-timeout=100ms")) {
			Gate gate = impatient.bean(Operations.class).closeGate();
			CompletableFuture<HttpResponse<byte[]>> first = impatient.postAsync("/awaited", "", KEY, this.key);
			gate.awaitEntry();
			assertThat(impatient.post("/awaited", "", KEY, this.key).statusCode()).isEqualTo(409);
			gate.open();
			assertThat(first.join().statusCode()).isEqualTo(200);
		}
	}

	@Test
	void receive422AtOnceForTheKeyOfAnotherRequest() throws Exception {
		Gate gate = application.bean(Operations.class).closeGate();
		CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/awaited", "", KEY, this.key);
		gate.awaitEntry();
		assertThat(application.post("/awaited", "other", KEY, this.key).statusCode()).isEqualTo(422);
		gate.open();
		assertThat(first.join().statusCode()).isEqualTo(200);
	}

	@Test
	void runIfTheFirstRequestHasFailed() throws Exception {
		Operations operations = application.bean(Operations.class);
		Gate gate = operations.closeGate();
		CompletableFuture<HttpResponse<byte[]>> first = application.postAsync("/awaited-failure", "", KEY, this.key);
		gate.awaitEntry();
		CompletableFuture<HttpResponse<byte[]>> duplicate = application.postAsync("/awaited-failure", "", KEY,
				this.key);
		gate.open();
		assertThat(List.of(first.join().statusCode(), duplicate.join().statusCode())).containsOnly(503);
		assertThat(operations.runs()).isEqualTo(2);
	}

}
