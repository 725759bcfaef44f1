package dev.idempotent.idempotency.method;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZonedDateTime;
import java.util.Calendar;
import java.util.Date;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import com.fasterxml.jackson.annotation.JsonInclude;
import tools.jackson.core.Version;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JacksonModule;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.deser.BeanDeserializerBuilder;
import tools.jackson.databind.deser.ValueDeserializerModifier;
import tools.jackson.databind.introspect.Annotated;
import tools.jackson.databind.introspect.NopAnnotationIntrospector;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleAbstractTypeResolver;
import tools.jackson.databind.util.StdDateFormat;

/**
 * Undoes what the application has set for its clients, where what it writes then is not
 * what it reads. Its modules, names and annotations still apply.
 */
@SuppressWarnings("JavaUtilDate") // Applications have dates of this class.
final class StoringModule extends JacksonModule {

	/**
	 * The types for which applications declare a format, perhaps one that is shorter than
	 * the value.
	 */
	private static final List<Class<?>> FORMATTED = List.of(Date.class, Calendar.class, Instant.class, LocalDate.class,
			LocalDateTime.class, LocalTime.class, OffsetDateTime.class, OffsetTime.class, ZonedDateTime.class,
			Year.class, YearMonth.class, MonthDay.class, Duration.class, Period.class, BigDecimal.class, Double.class,
			Float.class);

	static JsonMapper mapper(JsonMapper application) {
		return application.rebuild()
			.deactivateDefaultTyping()
			.changeDefaultPropertyInclusion(
					(any) -> JsonInclude.Value.construct(JsonInclude.Include.ALWAYS, JsonInclude.Include.ALWAYS))
			.defaultDateFormat(new StdDateFormat())
			.disable(DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE,
					DateTimeFeature.WRITE_DATES_WITH_CONTEXT_TIME_ZONE, DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS,
					DateTimeFeature.WRITE_DATE_KEYS_AS_TIMESTAMPS, DateTimeFeature.WRITE_DURATIONS_AS_TIMESTAMPS,
					DateTimeFeature.NORMALIZE_DESERIALIZED_ZONE_ID, DateTimeFeature.TRUNCATE_TO_MSECS_ON_READ,
					DateTimeFeature.TRUNCATE_TO_MSECS_ON_WRITE)
			.enable(DateTimeFeature.WRITE_DATES_WITH_ZONE_ID)
			.disable(EnumFeature.WRITE_ENUMS_USING_TO_STRING, EnumFeature.READ_ENUMS_USING_TO_STRING,
					EnumFeature.WRITE_ENUMS_USING_INDEX, EnumFeature.WRITE_ENUM_KEYS_USING_INDEX,
					EnumFeature.READ_ENUM_KEYS_USING_INDEX, EnumFeature.WRITE_ENUMS_TO_LOWERCASE,
					EnumFeature.READ_UNKNOWN_ENUM_VALUES_AS_NULL,
					EnumFeature.READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE)
			.enable(JsonNodeFeature.READ_NULL_PROPERTIES, JsonNodeFeature.WRITE_NULL_PROPERTIES)
			.disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
			.disable(SerializationFeature.WRAP_ROOT_VALUE, SerializationFeature.INDENT_OUTPUT,
					SerializationFeature.WRITE_SINGLE_ELEM_ARRAYS_UNWRAPPED, SerializationFeature.FAIL_ON_EMPTY_BEANS,
					SerializationFeature.WRITE_SELF_REFERENCES_AS_NULL)
			.enable(SerializationFeature.WRITE_EMPTY_JSON_ARRAYS)
			.disable(DeserializationFeature.UNWRAP_ROOT_VALUE, DeserializationFeature.UNWRAP_SINGLE_VALUE_ARRAYS,
					DeserializationFeature.ACCEPT_SINGLE_VALUE_AS_ARRAY,
					DeserializationFeature.ACCEPT_EMPTY_STRING_AS_NULL_OBJECT,
					DeserializationFeature.ACCEPT_EMPTY_ARRAY_AS_NULL_OBJECT,
					DeserializationFeature.ACCEPT_FLOAT_AS_INT, DeserializationFeature.FAIL_ON_IGNORED_PROPERTIES,
					DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
					DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES,
					DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES,
					DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
			.addModule(new StoringModule())
			.build();
	}

	@Override
	public String getModuleName() {
		return getClass().getName();
	}

	@Override
	public Version version() {
		return Version.unknownVersion();
	}

	@Override
	public void setupModule(SetupContext context) {
		context.insertAnnotationIntrospector(new CompleteMembers());
		context.addDeserializerModifier(new ReportedMembers());
		context.addAbstractTypeResolver(new SimpleAbstractTypeResolver().addMapping(Set.class, LinkedHashSet.class));
		FORMATTED.forEach((type) -> context.configOverride(type).setFormat(null));
	}

	/**
	 * Leaves out no members, whatever the application has set for a type.
	 */
	private static final class CompleteMembers extends NopAnnotationIntrospector {

		@Override
		public Version version() {
			return Version.unknownVersion();
		}

		@Override
		public JsonInclude.Value findPropertyInclusion(MapperConfig<?> config, Annotated annotated) {
			return JsonInclude.Value.construct(JsonInclude.Include.ALWAYS, JsonInclude.Include.ALWAYS);
		}

	}

	/**
	 * Reports members that a class does not read, also if it is annotated to ignore them.
	 */
	private static final class ReportedMembers extends ValueDeserializerModifier {

		@Override
		public BeanDeserializerBuilder updateBuilder(DeserializationConfig config, BeanDescription.Supplier bean,
				BeanDeserializerBuilder builder) {
			builder.setIgnoreUnknownProperties(false);
			return builder;
		}

	}

}
