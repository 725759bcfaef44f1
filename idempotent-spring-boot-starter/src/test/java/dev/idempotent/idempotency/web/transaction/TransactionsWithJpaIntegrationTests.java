package dev.idempotent.idempotency.web.transaction;

import java.net.URI;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.WebApplication;
import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.Version;
import jakarta.validation.ConstraintViolationException;
import jakarta.validation.constraints.NotBlank;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurationPackage;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rules under JPA's transaction manager, with an open session in view.
 */
class TransactionsWithJpaIntegrationTests extends AbstractTransactionTests {

	TransactionsWithJpaIntegrationTests() {
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

	/**
	 * The same handlers under JPA, and some with entities.
	 */
	@Configuration(proxyBeanMethods = false)
	@AutoConfigurationPackage
	@Import({ TransactionApplication.class, JpaApplication.Items.class, JpaApplication.Views.class,
			JpaApplication.Advice.class })
	static class JpaApplication {

		@Entity(name = "Item")
		static class Item {

			@Id
			@SuppressWarnings("NullAway.Init")
			private String name;

			@NotBlank
			@Column(unique = true)
			@SuppressWarnings("NullAway.Init")
			private String code;

			@ElementCollection
			private List<String> parts = List.of();

			protected Item() {
			}

			Item(String name, String code, List<String> parts) {
				this.name = name;
				this.code = code;
				this.parts = parts;
			}

			public List<String> getParts() {
				return this.parts;
			}

		}

		@Entity(name = "Tally")
		static class Tally {

			@Id
			@SuppressWarnings("NullAway.Init")
			private String name;

			@Version
			private int version;

			private int count;

			protected Tally() {
			}

			Tally(String name) {
				this.name = name;
			}

			public int getVersion() {
				return this.version;
			}

			public int getCount() {
				return this.count;
			}

		}

		@RestController
		static class Items {

			private final EntityManager entities;

			Items(EntityManager entities) {
				this.entities = entities;
			}

			int count(String name) {
				return this.entities.createQuery("select count(i) from Item i where i.name = :name", Long.class)
					.setParameter("name", name)
					.getSingleResult()
					.intValue();
			}

			/**
			 * The database sees nothing before the flush.
			 */
			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/items/{code}")
			ResponseEntity<?> add(@PathVariable String code, @RequestParam String name) {
				this.entities.persist(new Item(name, code, List.of()));
				return ResponseEntity.created(URI.create("/items/" + name)).build();
			}

			/**
			 * The database generates the version at the flush.
			 */
			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/versioned-items/{code}")
			ResponseEntity<Tally> count(@PathVariable String code, @RequestParam String name) {
				Tally tally = new Tally(name);
				this.entities.persist(tally);
				this.entities.flush();
				tally.count = 7;
				return ResponseEntity.ok(tally);
			}

			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/lazy-items/{code}")
			Item addAndLoad(@PathVariable String code, @RequestParam String name) {
				this.entities.persist(new Item(name, code, List.of("a", "b")));
				this.entities.flush();
				this.entities.clear();
				return this.entities.find(Item.class, name);
			}

		}

		/**
		 * Handlers with work that is only done when the transaction is about to commit.
		 */
		@Controller
		static class Views {

			private final EntityManager entities;

			Views(EntityManager entities) {
				this.entities = entities;
			}

			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/late-items/body")
			@ResponseBody
			String addLate(@RequestParam String name) {
				addBeforeCommit(name);
				return name;
			}

			@Idempotent(guarantee = Guarantee.TRANSACTION)
			@PostMapping("/late-items/view")
			String addLateAndRedirect(@RequestParam String name) {
				addBeforeCommit(name);
				return "redirect:/items";
			}

			private void addBeforeCommit(String name) {
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void beforeCommit(boolean readOnly) {
						Views.this.entities.persist(new Item(name, name, List.of()));
					}

				});
			}

		}

		@RestControllerAdvice
		static class Advice {

			@ExceptionHandler
			ResponseEntity<?> invalid(ConstraintViolationException ex) {
				return ResponseEntity.unprocessableContent().body(Map.of("invalid", true));
			}

		}

	}

}
