package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;

import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rules under JPA's transaction manager, with an open session in view.
 */
class JpaTransactionRulesIntegrationTests extends TransactionRules {

	JpaTransactionRulesIntegrationTests() {
		super(JpaApplication.class, WebApplication.WITH_DATABASE, WebApplication.WITH_JPA,
				"spring.jpa.hibernate.ddl-auto=update");
	}

	@Test
	void commitsEntitiesTogetherWithTheResponse() {
		Attempt attempt = new Attempt("/items/", "new");
		HttpResponse<byte[]> first = attempt.send();
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(items(attempt)).isOne();
		attempt.assertReplayed(first, attempt.send());
		assertThat(items(attempt)).isOne();
	}

	@Test
	void letsTheApplicationAnswerAConstraintViolationOnFlush() {
		new Attempt("/items/", "taken").send();
		Attempt attempt = new Attempt("/items/", "taken");
		HttpResponse<byte[]> first = attempt.send();
		assertThat(first.statusCode()).isEqualTo(422);
		assertThat(text(first)).contains("violated");
		assertThat(first.headers().firstValue("Location")).isEmpty();
		assertThat(items(attempt)).isZero();
		attempt.assertReplayed(first, attempt.send());
	}

	@Test
	void letsTheApplicationAnswerAnExceptionOfTheFlush() {
		HttpResponse<byte[]> first = new Attempt("/items/", "%20").send();
		assertThat(first.statusCode()).isEqualTo(422);
		assertThat(text(first)).contains("invalid");
	}

	@Test
	void rendersLazilyLoadedData() {
		Attempt attempt = new Attempt("/lazy-items/", "lazy");
		HttpResponse<byte[]> first = attempt.send();
		assertThat(text(first)).isEqualTo("{\"parts\":[\"a\",\"b\"]}");
		attempt.assertReplayed(first, attempt.send());
	}

	@ParameterizedTest
	@CsvSource({ "body, 200", "view, 302" })
	void lendsTheEntityManagerToWhatRunsBeforeTheCommit(String handler, int status) {
		Attempt attempt = new Attempt("/late-items/", handler);
		HttpResponse<byte[]> first = attempt.send();
		assertThat(first.statusCode()).isEqualTo(status);
		assertThat(items(attempt)).isOne();
		attempt.assertReplayed(first, attempt.send());
		assertThat(items(attempt)).isOne();
	}

	@Test
	void rendersTheVersionOfAnEntity() {
		Attempt attempt = new Attempt("/versioned-items/", "versioned");
		HttpResponse<byte[]> first = attempt.send();
		assertThat(text(first)).contains("\"version\":1", "\"count\":7");
		attempt.assertReplayed(first, attempt.send());
	}

	private int items(Attempt attempt) {
		return application().bean(JpaApplication.Items.class).count(attempt.name);
	}

}
