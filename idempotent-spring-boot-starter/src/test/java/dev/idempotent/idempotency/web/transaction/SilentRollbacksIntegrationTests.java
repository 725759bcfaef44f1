package dev.idempotent.idempotency.web.transaction;

import java.net.http.HttpResponse;
import java.util.UUID;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Transactions that Spring reports as committed and that PostgreSQL has rolled back: a
 * statement fails after the record was completed, its exception is caught, and the driver
 * does not report that the database answered the commit with a rollback.
 */
class SilentRollbacksIntegrationTests {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@SuppressWarnings("NullAway.Init")
	private static WebApplication application;

	private final String name = "work-" + UUID.randomUUID();

	@BeforeAll
	static void start() {
		application = TransactionApplication.start(SilentApplication.class, redis, postgres,
				WebApplication.WITH_DATABASE);
		application.bean(Works.class).writeItem("taken", "silent-" + postgres.port());
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@Test
	void ofAHandlerAreNeitherAnsweredAsDoneNorReplayed() {
		HttpResponse<byte[]> first = post("/silent/handler?fails=true");
		assertThat(first.statusCode()).isEqualTo(500);
		assertThat(text(first)).contains("rolled-back");
		assertRunsAgain("/silent/handler?fails=false");
	}

	@Test
	void ofAMethodAreNotReplayed() {
		HttpResponse<byte[]> first = post("/silent/method?fails=true");
		assertThat(first.statusCode()).isEqualTo(500);
		assertRunsAgain("/silent/method?fails=false");
	}

	@Test
	void ofACallersTransactionAreNotReplayed() {
		// The transaction is the caller's, so is what it makes of the commit.
		assertThat(post("/silent/caller?fails=true").statusCode()).isEqualTo(200);
		assertThat(application.bean(Works.class).count(this.name)).isZero();
		assertRunsAgain("/silent/caller?fails=false");
	}

	private void assertRunsAgain(String path) {
		assertThat(application.bean(Works.class).count(this.name)).isZero();
		HttpResponse<byte[]> retry = post(path);
		assertThat(retry.statusCode()).isEqualTo(200);
		assertThat(application.bean(Works.class).count(this.name)).isOne();
		assertThat(post(path).statusCode()).isEqualTo(200);
		assertThat(application.bean(Works.class).count(this.name)).isOne();
	}

	private HttpResponse<byte[]> post(String path) {
		return application.post(path + "&name=" + this.name, "{}", "Idempotency-Key", this.name);
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ TransactionApplication.class, SilentController.class, SilentService.class, SilentCaller.class })
	static class SilentApplication {

	}

	@RestController
	static class SilentController {

		private final SilentService service;

		private final SilentCaller caller;

		SilentController(SilentService service, SilentCaller caller) {
			this.service = service;
			this.caller = caller;
		}

		@PostMapping("/silent/handler")
		@Idempotent(guarantee = Guarantee.TRANSACTION, ignore = "query:fails")
		ResponseEntity<String> handler(@RequestParam String name, @RequestParam boolean fails) {
			return ResponseEntity.ok(this.service.write(name, fails));
		}

		@PostMapping("/silent/method")
		ResponseEntity<String> method(@RequestParam String name, @RequestParam boolean fails) {
			return ResponseEntity.ok(this.service.once(name, fails));
		}

		@PostMapping("/silent/caller")
		ResponseEntity<String> caller(@RequestParam String name, @RequestParam boolean fails) {
			return ResponseEntity.ok(this.caller.call(name, fails));
		}

	}

	@Service
	static class SilentCaller {

		private final SilentService service;

		SilentCaller(SilentService service) {
			this.service = service;
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public String call(String name, boolean fails) {
			String result = this.service.once(name, false);
			if (fails) {
				this.service.failBeforeCommit();
			}
			return result;
		}

	}

	@Service
	static class SilentService {

		private final Works works;

		SilentService(Works works) {
			this.works = works;
		}

		@Idempotent(key = "#name", guarantee = Guarantee.TRANSACTION, ignore = "fails", name = "silent-service.once")
		public String once(String name, boolean fails) {
			return write(name, fails);
		}

		String write(String name, boolean fails) {
			this.works.write(name);
			if (fails) {
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void beforeCompletion() {
						insertTaken();
					}

				});
			}
			return name;
		}

		void failBeforeCommit() {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCommit(boolean readOnly) {
					insertTaken();
				}

			});
		}

		private void insertTaken() {
			try {
				this.works.writeItem("again", "silent-" + postgres.port());
			}
			catch (DuplicateKeyException ex) {
				// Caught, as an application may do.
			}
		}

	}

}
