package dev.idempotent.idempotency.method;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.DefaultTyping;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Results of annotated methods are stored and replayed.
 */
class MethodResultsTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private final ApplicationContextRunner application = MethodApplication.with(TypingMapper.class)
		.withBean(Catalogue.class);

	static Stream<Named<Function<Catalogue, @Nullable Object>>> results() {
		return Stream.of(Named.of("record", (catalogue) -> catalogue.article("k")),
				Named.of("list of records", (catalogue) -> catalogue.articles("k")),
				Named.of("map of records", (catalogue) -> catalogue.byName("k")),
				Named.of("optional record", (catalogue) -> catalogue.found("k")),
				Named.of("empty optional", (catalogue) -> catalogue.missing("k")),
				Named.of("null", (catalogue) -> catalogue.nothing("k")),
				Named.of("date with an offset", (catalogue) -> catalogue.offset("k")),
				Named.of("date with a zone", (catalogue) -> catalogue.zone("k")),
				Named.of("number", (catalogue) -> catalogue.count("k")),
				Named.of("text", (catalogue) -> catalogue.text("k")),
				Named.of("type variable of a superclass", (catalogue) -> catalogue.inherited("k")),
				Named.of("future record", (catalogue) -> catalogue.later("k").join()),
				Named.of("future list", (catalogue) -> catalogue.allLater("k").join()),
				Named.of("void", (catalogue) -> {
					catalogue.act("k");
					return null;
				}));
	}

	@ParameterizedTest
	@MethodSource("results")
	void areReplayedAsTheirDeclaredType(Function<Catalogue, @Nullable Object> call) {
		this.application.run((context) -> {
			Catalogue catalogue = context.getBean(Catalogue.class);
			Object first = call.apply(catalogue);
			assertThat(call.apply(catalogue)).isEqualTo(first);
			assertThat(catalogue.runs()).isOne();
		});
	}

	@Test
	void areStoredWithoutTypeNames() {
		this.application.run((context) -> {
			context.getBean(Catalogue.class).articles("k");
			String stored = stored(context.getBean(IdempotencyStore.class), "articles");
			assertThat(stored).contains("\"name\":\"a1\"").doesNotContain("Article", "java.");
		});
	}

	@Test
	void thatCannotBeReadFailWithoutASecondRun() {
		this.application.run((context) -> {
			context.getBean(Catalogue.class).text("k");
			MethodApplication.with(LaterCatalogue.class).run((later) -> {
				later.getBean(ForgetfulStore.class).shareWith(context.getBean(ForgetfulStore.class));
				LaterCatalogue catalogue = later.getBean(LaterCatalogue.class);
				assertThatExceptionOfType(IdempotencyResultException.class).isThrownBy(() -> catalogue.text("k"))
					.withMessageContainingAll("LaterCatalogue.text", "its stored result cannot be read as",
							"It is not done again");
			});
		});
	}

	@Test
	void thatCannotBeWrittenAreReturnedOnceUnderALease() {
		this.application.run((context) -> {
			Catalogue catalogue = context.getBean(Catalogue.class);
			assertThat(catalogue.circle("k")).isNotNull();
			assertThatExceptionOfType(IdempotencyResultException.class).isThrownBy(() -> catalogue.circle("k"))
				.withMessageContaining("its result could not be stored");
			assertThat(catalogue.runs()).isOne();
		});
	}

	@Test
	void thatCannotBeWrittenRollBackTheirTransaction() {
		this.application.run((context) -> {
			Catalogue catalogue = context.getBean(Catalogue.class);
			assertThatExceptionOfType(IdempotencyResultException.class)
				.isThrownBy(() -> catalogue.circleInTransaction("k"))
				.withMessageContainingAll("circleInTransaction", "cannot be written as JSON");
			assertThat(context.getBean(Effects.class).committed()).isEmpty();
			assertThat(context.getBean(Effects.class).records()).isZero();
		});
	}

	@ParameterizedTest
	@MethodSource("differing")
	void thatARetryWouldGetDifferentlyAreReturnedOnceUnderALease(Function<Catalogue, @Nullable Object> call) {
		this.application.run((context) -> {
			Catalogue catalogue = context.getBean(Catalogue.class);
			assertThat(call.apply(catalogue)).isNotNull();
			assertThatExceptionOfType(IdempotencyResultException.class).isThrownBy(() -> call.apply(catalogue))
				.withMessageContaining("its result could not be stored");
			assertThat(catalogue.runs()).isOne();
		});
	}

	static Stream<Named<Function<Catalogue, @Nullable Object>>> differing() {
		return Stream.of(Named.of("hidden member", (catalogue) -> catalogue.secret("k")),
				Named.of("decimal number in a map", (catalogue) -> catalogue.prices("k")));
	}

	@Test
	void thatAreASetAreReplayedAsADeclaredCollection() {
		this.application.run((context) -> {
			Catalogue catalogue = context.getBean(Catalogue.class);
			assertThat(catalogue.tags("k")).containsExactlyElementsOf(catalogue.tags("k"));
			assertThat(catalogue.runs()).isOne();
		});
	}

	/**
	 * An error after the work must not free its key.
	 */
	@Test
	void whoseClassFailsAreReturnedOnceUnderALease() {
		this.application.run((context) -> {
			Catalogue catalogue = context.getBean(Catalogue.class);
			assertThat(catalogue.failing("k")).isNotNull();
			assertThatExceptionOfType(IdempotencyResultException.class).isThrownBy(() -> catalogue.failing("k"));
			assertThat(catalogue.failingLater("k").join()).isNotNull();
			assertThat(catalogue.failingLater("k")).isCompletedExceptionally();
			assertThat(catalogue.runs()).isEqualTo(2);
		});
	}

	@Test
	void areReplayedWhateverTheMapperLeavesOut() {
		MethodApplication.with(FrugalMapper.class).withBean(Catalogue.class).run((context) -> {
			Catalogue catalogue = context.getBean(Catalogue.class);
			assertThat(catalogue.basket("k")).isEqualTo(catalogue.basket("k"));
			assertThat(catalogue.runs()).isOne();
		});
	}

	@Test
	void thatARetryWouldGetDifferentlyRollBackTheirTransaction() {
		this.application.run((context) -> {
			Catalogue catalogue = context.getBean(Catalogue.class);
			assertThatExceptionOfType(IdempotencyResultException.class)
				.isThrownBy(() -> catalogue.secretInTransaction("k"))
				.withMessageContainingAll("secretInTransaction", "differs from what a retry would get", "'pin'")
				.withMessageNotContaining("1234");
			assertThat(context.getBean(Effects.class).committed()).isEmpty();
			assertThat(context.getBean(Effects.class).records()).isZero();
		});
	}

	@Test
	void ofFailedFuturesReleaseTheKey() {
		this.application.run((context) -> {
			Catalogue catalogue = context.getBean(Catalogue.class);
			assertThat(catalogue.failsLater("k")).isCompletedExceptionally();
			assertThat(catalogue.failsLater("k")).isCompletedExceptionally();
			assertThat(catalogue.runs()).isEqualTo(2);
		});
	}

	@Test
	void ofFuturesArePendingUntilCompletion() {
		this.application.run((context) -> {
			Catalogue catalogue = context.getBean(Catalogue.class);
			CompletableFuture<String> open = new CompletableFuture<>();
			CompletableFuture<String> first = catalogue.whenever("k", open);
			assertThat(catalogue.whenever("k", open)).isCompletedExceptionally();
			open.complete("now");
			assertThat(first).isCompletedWithValue("now");
			assertThat(catalogue.whenever("k", open)).isCompletedWithValue("now");
			assertThat(catalogue.runs()).isOne();
		});
	}

	@ParameterizedTest
	@MethodSource("endsByTheCaller")
	void ofFuturesAreKeptWhateverTheCallerDoesWithItsFuture(Consumer<CompletableFuture<String>> end) {
		this.application.run((context) -> {
			Catalogue catalogue = context.getBean(Catalogue.class);
			CompletableFuture<String> open = new CompletableFuture<>();
			end.accept(catalogue.whenever("k", open));
			open.complete("now");
			assertThat(catalogue.whenever("k", open)).isCompletedWithValue("now");
			assertThat(catalogue.runs()).isOne();
		});
	}

	static Stream<Named<Consumer<CompletableFuture<String>>>> endsByTheCaller() {
		return Stream.of(Named.of("cancel", (future) -> future.cancel(true)),
				Named.of("orTimeout",
						(future) -> assertThatExceptionOfType(CompletionException.class)
							.isThrownBy(() -> future.orTimeout(1, TimeUnit.MILLISECONDS).join())),
				Named.of("complete", (future) -> future.complete("other")));
	}

	private static String stored(IdempotencyStore store, String operation) {
		IdempotencyKey key = IdempotencyKey.of(IdempotencyKey.Kind.METHOD, "shop", "", operation, "\"k\"");
		Claim claim = store.claim(key, new Fingerprint(0, ""), "reader", MINUTE);
		return new String(((Claim.Completed) claim).response().bytes(), StandardCharsets.UTF_8);
	}

	/**
	 * An application that writes as little as possible.
	 */
	@Configuration(proxyBeanMethods = false)
	static class FrugalMapper {

		@Bean
		JsonMapper jsonMapper() {
			return JsonMapper.builder()
				.changeDefaultPropertyInclusion((any) -> JsonInclude.Value.construct(JsonInclude.Include.NON_EMPTY,
						JsonInclude.Include.NON_EMPTY))
				.enable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS)
				.build();
		}

	}

	/**
	 * An application that names types wherever it writes JSON.
	 */
	@Configuration(proxyBeanMethods = false)
	static class TypingMapper {

		@Bean
		JsonMapper jsonMapper() {
			return JsonMapper.builder()
				.activateDefaultTyping(BasicPolymorphicTypeValidator.builder().allowIfSubType(Object.class).build(),
						DefaultTyping.NON_FINAL)
				.build();
		}

	}

	/**
	 * A later release, whose method has another type.
	 */
	static class LaterCatalogue {

		@Idempotent(key = "#key", name = "catalogue.text")
		public Shelf.Article text(String key) {
			throw new IllegalStateException("never");
		}

	}

	/**
	 * Annotated methods with results of many types.
	 */
	static class Catalogue extends Shelf<Shelf.Article> {

		private final AtomicInteger runs = new AtomicInteger();

		private final Effects effects;

		Catalogue(Effects effects) {
			this.effects = effects;
		}

		public int runs() {
			return this.runs.get();
		}

		@Override
		Article make() {
			int number = this.runs.incrementAndGet();
			return new Article("a" + number, number);
		}

		@Idempotent(key = "#key", name = "catalogue.article")
		public Article article(String key) {
			return make();
		}

		@Idempotent(key = "#key", name = "articles")
		public List<Article> articles(String key) {
			return List.of(make());
		}

		@Idempotent(key = "#key", name = "catalogue.by-name")
		public Map<String, Article> byName(String key) {
			return Map.of("one", make());
		}

		@Idempotent(key = "#key", name = "catalogue.found")
		public Optional<Article> found(String key) {
			return Optional.of(make());
		}

		@Idempotent(key = "#key", name = "catalogue.missing")
		public Optional<Article> missing(String key) {
			make();
			return Optional.empty();
		}

		@Idempotent(key = "#key", name = "catalogue.nothing")
		public @Nullable Article nothing(String key) {
			make();
			return null;
		}

		@Idempotent(key = "#key", name = "catalogue.count")
		public long count(String key) {
			return make().number();
		}

		@Idempotent(key = "#key", name = "catalogue.text")
		public String text(String key) {
			return make().name();
		}

		@Idempotent(key = "#key", name = "catalogue.act")
		public void act(String key) {
			make();
		}

		@Idempotent(key = "#key", name = "catalogue.later")
		public CompletableFuture<Article> later(String key) {
			return CompletableFuture.supplyAsync(this::make);
		}

		@Idempotent(key = "#key", name = "catalogue.all-later")
		public CompletableFuture<List<Article>> allLater(String key) {
			return CompletableFuture.supplyAsync(() -> List.of(make()));
		}

		@Idempotent(key = "#key", name = "catalogue.fails-later")
		public CompletableFuture<Article> failsLater(String key) {
			make();
			return CompletableFuture.failedFuture(new IllegalStateException("It fails"));
		}

		@Idempotent(key = "#key", ignore = "open", name = "catalogue.whenever")
		public CompletableFuture<String> whenever(String key, CompletableFuture<String> open) {
			make();
			return open;
		}

		@Idempotent(key = "#key", name = "catalogue.circle")
		public Circle circle(String key) {
			make();
			return new Circle();
		}

		@Idempotent(key = "#key", guarantee = Guarantee.TRANSACTION, name = "catalogue.circle-in-transaction")
		public Circle circleInTransaction(String key) {
			this.effects.add(key);
			return new Circle();
		}

		@Idempotent(name = "secret", key = "#key")
		public Secret secret(String key) {
			return new Secret(make().name(), "1234");
		}

		@Idempotent(name = "secret-in-transaction", key = "#key", guarantee = Guarantee.TRANSACTION)
		public Secret secretInTransaction(String key) {
			this.effects.add(key);
			return new Secret(key, "1234");
		}

		@Idempotent(name = "offset", key = "#key")
		public OffsetDateTime offset(String key) {
			make();
			return OffsetDateTime.parse("2026-01-01T00:00+01:00");
		}

		@Idempotent(name = "zone", key = "#key")
		public ZonedDateTime zone(String key) {
			make();
			return ZonedDateTime.parse("2026-01-01T00:00+01:00[Europe/Paris]");
		}

		@Idempotent(name = "prices", key = "#key")
		public Map<String, Object> prices(String key) {
			return Map.of(make().name(), new BigDecimal("1.5"));
		}

		@Idempotent(name = "tags", key = "#key")
		public Collection<String> tags(String key) {
			return Set.of(make().name());
		}

		@Idempotent(name = "failing", key = "#key")
		public Failing failing(String key) {
			make();
			return new Failing();
		}

		@Idempotent(name = "failing-later", key = "#key")
		public CompletableFuture<Failing> failingLater(String key) {
			return CompletableFuture.supplyAsync(() -> {
				make();
				return new Failing();
			});
		}

		@Idempotent(name = "basket", key = "#key")
		public Basket basket(String key) {
			return new Basket(make().name(), List.of(), Map.of(), OffsetDateTime.parse("2026-01-01T00:00+02:00"));
		}

		record Basket(String name, List<String> lines, Map<String, String> notes, OffsetDateTime at) {
		}

		@SuppressWarnings("UnusedVariable") // Read by reflection.
		static class Failing {

			private int id;

			public int getId() {
				throw new NoClassDefFoundError("com/example/Missing");
			}

			public void setId(int id) {
				this.id = id;
			}

		}

		record Secret(String name, @JsonIgnore String pin) {
		}

	}

	/**
	 * An annotated method whose result is a type variable.
	 */
	abstract static class Shelf<T> {

		@Idempotent(key = "#key", name = "inherited")
		public T inherited(String key) {
			return make();
		}

		abstract T make();

		record Article(String name, int number) {
		}

		static class Circle {

			public Circle getSelf() {
				return this;
			}

		}

	}

}
