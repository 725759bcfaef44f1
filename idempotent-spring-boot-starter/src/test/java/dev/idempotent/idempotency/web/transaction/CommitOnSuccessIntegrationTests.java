package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.util.UUID;

import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@code idempotent.web.commit-on=success}.
 */
class CommitOnSuccessIntegrationTests extends TransactionsOnTomcatAndJetty {

	private final String name = "work-" + UUID.randomUUID();

	@BeforeParameterizedClassInvocation
	static void start(String container) {
		startWithPostgres(TransactionApplication.class, container, "idempotent.web.commit-on=success");
	}

	@ParameterizedTest
	@CsvSource({ "created, 201, 1, true", "declined, 402, 0, true", "conflict, 409, 0, false" })
	void commitsNoWorkThatIsRefused(String ending, int status, int rows, boolean replayed) {
		String path = "/jobs/" + ending + "?name=" + this.name;
		assertThat(post(path).statusCode()).isEqualTo(status);
		assertThat(application.bean(Works.class).count(this.name)).isEqualTo(rows);
		HttpResponse<byte[]> retry = post(path);
		assertThat(retry.statusCode()).isEqualTo(status);
		assertThat(isReplay(retry)).isEqualTo(replayed);
	}

}
