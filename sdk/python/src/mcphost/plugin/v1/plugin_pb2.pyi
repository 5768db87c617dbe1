from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Capabilities(_message.Message):
    __slots__ = ("tools", "resources", "resource_updates", "prompts", "completions", "catalog_changes", "streaming", "should_register", "authorize", "reconfigure", "max_concurrent_calls", "resource_pages", "exclusive")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_UPDATES_FIELD_NUMBER: _ClassVar[int]
    PROMPTS_FIELD_NUMBER: _ClassVar[int]
    COMPLETIONS_FIELD_NUMBER: _ClassVar[int]
    CATALOG_CHANGES_FIELD_NUMBER: _ClassVar[int]
    STREAMING_FIELD_NUMBER: _ClassVar[int]
    SHOULD_REGISTER_FIELD_NUMBER: _ClassVar[int]
    AUTHORIZE_FIELD_NUMBER: _ClassVar[int]
    RECONFIGURE_FIELD_NUMBER: _ClassVar[int]
    MAX_CONCURRENT_CALLS_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_PAGES_FIELD_NUMBER: _ClassVar[int]
    EXCLUSIVE_FIELD_NUMBER: _ClassVar[int]
    tools: bool
    resources: bool
    resource_updates: bool
    prompts: bool
    completions: bool
    catalog_changes: bool
    streaming: bool
    should_register: bool
    authorize: bool
    reconfigure: bool
    max_concurrent_calls: int
    resource_pages: bool
    exclusive: bool
    def __init__(self, tools: bool = ..., resources: bool = ..., resource_updates: bool = ..., prompts: bool = ..., completions: bool = ..., catalog_changes: bool = ..., streaming: bool = ..., should_register: bool = ..., authorize: bool = ..., reconfigure: bool = ..., max_concurrent_calls: _Optional[int] = ..., resource_pages: bool = ..., exclusive: bool = ...) -> None: ...

class DescribeRequest(_message.Message):
    __slots__ = ("host_version", "protocol_minor")
    HOST_VERSION_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_MINOR_FIELD_NUMBER: _ClassVar[int]
    host_version: str
    protocol_minor: int
    def __init__(self, host_version: _Optional[str] = ..., protocol_minor: _Optional[int] = ...) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("name", "version", "sdk", "protocol_minor", "capabilities", "config_schema_json", "documentation_markdown", "grants", "secrets")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SDK_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_MINOR_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    CONFIG_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTATION_MARKDOWN_FIELD_NUMBER: _ClassVar[int]
    GRANTS_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    sdk: str
    protocol_minor: int
    capabilities: Capabilities
    config_schema_json: bytes
    documentation_markdown: str
    grants: GrantRequest
    secrets: _containers.RepeatedCompositeFieldContainer[SecretSpec]
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., sdk: _Optional[str] = ..., protocol_minor: _Optional[int] = ..., capabilities: _Optional[_Union[Capabilities, _Mapping]] = ..., config_schema_json: _Optional[bytes] = ..., documentation_markdown: _Optional[str] = ..., grants: _Optional[_Union[GrantRequest, _Mapping]] = ..., secrets: _Optional[_Iterable[_Union[SecretSpec, _Mapping]]] = ...) -> None: ...

class SecretSpec(_message.Message):
    __slots__ = ("name", "description", "required")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    required: bool
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., required: bool = ...) -> None: ...

class GrantRequest(_message.Message):
    __slots__ = ("read_paths", "write_paths", "network_hosts", "environment", "spawn_processes")
    READ_PATHS_FIELD_NUMBER: _ClassVar[int]
    WRITE_PATHS_FIELD_NUMBER: _ClassVar[int]
    NETWORK_HOSTS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    SPAWN_PROCESSES_FIELD_NUMBER: _ClassVar[int]
    read_paths: _containers.RepeatedScalarFieldContainer[str]
    write_paths: _containers.RepeatedScalarFieldContainer[str]
    network_hosts: _containers.RepeatedScalarFieldContainer[str]
    environment: _containers.RepeatedScalarFieldContainer[str]
    spawn_processes: bool
    def __init__(self, read_paths: _Optional[_Iterable[str]] = ..., write_paths: _Optional[_Iterable[str]] = ..., network_hosts: _Optional[_Iterable[str]] = ..., environment: _Optional[_Iterable[str]] = ..., spawn_processes: bool = ...) -> None: ...

class Diagnostic(_message.Message):
    __slots__ = ("severity", "summary", "detail", "pointer")
    class Severity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SEVERITY_UNSPECIFIED: _ClassVar[Diagnostic.Severity]
        SEVERITY_ERROR: _ClassVar[Diagnostic.Severity]
        SEVERITY_WARNING: _ClassVar[Diagnostic.Severity]
    SEVERITY_UNSPECIFIED: Diagnostic.Severity
    SEVERITY_ERROR: Diagnostic.Severity
    SEVERITY_WARNING: Diagnostic.Severity
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    POINTER_FIELD_NUMBER: _ClassVar[int]
    severity: Diagnostic.Severity
    summary: str
    detail: str
    pointer: str
    def __init__(self, severity: _Optional[_Union[Diagnostic.Severity, str]] = ..., summary: _Optional[str] = ..., detail: _Optional[str] = ..., pointer: _Optional[str] = ...) -> None: ...

class ValidateConfigRequest(_message.Message):
    __slots__ = ("config_json",)
    CONFIG_JSON_FIELD_NUMBER: _ClassVar[int]
    config_json: bytes
    def __init__(self, config_json: _Optional[bytes] = ...) -> None: ...

class ValidateConfigResponse(_message.Message):
    __slots__ = ("diagnostics",)
    DIAGNOSTICS_FIELD_NUMBER: _ClassVar[int]
    diagnostics: _containers.RepeatedCompositeFieldContainer[Diagnostic]
    def __init__(self, diagnostics: _Optional[_Iterable[_Union[Diagnostic, _Mapping]]] = ...) -> None: ...

class ConfigureRequest(_message.Message):
    __slots__ = ("handle", "config_json", "secrets", "data_dir")
    class SecretsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    CONFIG_JSON_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    DATA_DIR_FIELD_NUMBER: _ClassVar[int]
    handle: str
    config_json: bytes
    secrets: _containers.ScalarMap[str, str]
    data_dir: str
    def __init__(self, handle: _Optional[str] = ..., config_json: _Optional[bytes] = ..., secrets: _Optional[_Mapping[str, str]] = ..., data_dir: _Optional[str] = ...) -> None: ...

class ConfigureResponse(_message.Message):
    __slots__ = ("diagnostics", "capabilities")
    DIAGNOSTICS_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    diagnostics: _containers.RepeatedCompositeFieldContainer[Diagnostic]
    capabilities: Capabilities
    def __init__(self, diagnostics: _Optional[_Iterable[_Union[Diagnostic, _Mapping]]] = ..., capabilities: _Optional[_Union[Capabilities, _Mapping]] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WatchResponse(_message.Message):
    __slots__ = ("catalog", "resource_updated", "log")
    CATALOG_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_UPDATED_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    catalog: CatalogPart
    resource_updated: ResourceUpdated
    log: Log
    def __init__(self, catalog: _Optional[_Union[CatalogPart, _Mapping]] = ..., resource_updated: _Optional[_Union[ResourceUpdated, _Mapping]] = ..., log: _Optional[_Union[Log, _Mapping]] = ...) -> None: ...

class ResourceUpdated(_message.Message):
    __slots__ = ("uri",)
    URI_FIELD_NUMBER: _ClassVar[int]
    uri: str
    def __init__(self, uri: _Optional[str] = ...) -> None: ...

class CatalogPart(_message.Message):
    __slots__ = ("revision", "last", "tools", "resources", "resource_templates", "prompts", "instructions", "cache")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_TEMPLATES_FIELD_NUMBER: _ClassVar[int]
    PROMPTS_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    revision: int
    last: bool
    tools: _containers.RepeatedCompositeFieldContainer[Tool]
    resources: _containers.RepeatedCompositeFieldContainer[Resource]
    resource_templates: _containers.RepeatedCompositeFieldContainer[ResourceTemplate]
    prompts: _containers.RepeatedCompositeFieldContainer[Prompt]
    instructions: str
    cache: CacheHint
    def __init__(self, revision: _Optional[int] = ..., last: bool = ..., tools: _Optional[_Iterable[_Union[Tool, _Mapping]]] = ..., resources: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ..., resource_templates: _Optional[_Iterable[_Union[ResourceTemplate, _Mapping]]] = ..., prompts: _Optional[_Iterable[_Union[Prompt, _Mapping]]] = ..., instructions: _Optional[str] = ..., cache: _Optional[_Union[CacheHint, _Mapping]] = ...) -> None: ...

class CacheHint(_message.Message):
    __slots__ = ("ttl", "scope")
    class Scope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SCOPE_UNSPECIFIED: _ClassVar[CacheHint.Scope]
        SCOPE_PRIVATE: _ClassVar[CacheHint.Scope]
        SCOPE_PUBLIC: _ClassVar[CacheHint.Scope]
    SCOPE_UNSPECIFIED: CacheHint.Scope
    SCOPE_PRIVATE: CacheHint.Scope
    SCOPE_PUBLIC: CacheHint.Scope
    TTL_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    ttl: _duration_pb2.Duration
    scope: CacheHint.Scope
    def __init__(self, ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., scope: _Optional[_Union[CacheHint.Scope, str]] = ...) -> None: ...

class ListResourcesRequest(_message.Message):
    __slots__ = ("context", "cursor", "page_size")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    context: CallContext
    cursor: str
    page_size: int
    def __init__(self, context: _Optional[_Union[CallContext, _Mapping]] = ..., cursor: _Optional[str] = ..., page_size: _Optional[int] = ...) -> None: ...

class ListResourcesResponse(_message.Message):
    __slots__ = ("resources", "next_cursor")
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    resources: _containers.RepeatedCompositeFieldContainer[Resource]
    next_cursor: str
    def __init__(self, resources: _Optional[_Iterable[_Union[Resource, _Mapping]]] = ..., next_cursor: _Optional[str] = ...) -> None: ...

class SetSubscriptionsRequest(_message.Message):
    __slots__ = ("uris",)
    URIS_FIELD_NUMBER: _ClassVar[int]
    uris: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, uris: _Optional[_Iterable[str]] = ...) -> None: ...

class SetSubscriptionsResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Tool(_message.Message):
    __slots__ = ("name", "title", "description", "input_schema_json", "output_schema_json", "annotations", "icons_json", "meta_json", "timeout", "definition_json")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_JSON_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    ICONS_JSON_FIELD_NUMBER: _ClassVar[int]
    META_JSON_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_JSON_FIELD_NUMBER: _ClassVar[int]
    name: str
    title: str
    description: str
    input_schema_json: bytes
    output_schema_json: bytes
    annotations: ToolAnnotations
    icons_json: bytes
    meta_json: bytes
    timeout: _duration_pb2.Duration
    definition_json: bytes
    def __init__(self, name: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., input_schema_json: _Optional[bytes] = ..., output_schema_json: _Optional[bytes] = ..., annotations: _Optional[_Union[ToolAnnotations, _Mapping]] = ..., icons_json: _Optional[bytes] = ..., meta_json: _Optional[bytes] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., definition_json: _Optional[bytes] = ...) -> None: ...

class ToolAnnotations(_message.Message):
    __slots__ = ("title", "read_only", "destructive", "idempotent", "open_world")
    TITLE_FIELD_NUMBER: _ClassVar[int]
    READ_ONLY_FIELD_NUMBER: _ClassVar[int]
    DESTRUCTIVE_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    OPEN_WORLD_FIELD_NUMBER: _ClassVar[int]
    title: str
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    def __init__(self, title: _Optional[str] = ..., read_only: bool = ..., destructive: bool = ..., idempotent: bool = ..., open_world: bool = ...) -> None: ...

class Resource(_message.Message):
    __slots__ = ("uri", "name", "title", "description", "mime_type", "size", "annotations_json", "icons_json", "meta_json", "definition_json")
    URI_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_JSON_FIELD_NUMBER: _ClassVar[int]
    ICONS_JSON_FIELD_NUMBER: _ClassVar[int]
    META_JSON_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_JSON_FIELD_NUMBER: _ClassVar[int]
    uri: str
    name: str
    title: str
    description: str
    mime_type: str
    size: int
    annotations_json: bytes
    icons_json: bytes
    meta_json: bytes
    definition_json: bytes
    def __init__(self, uri: _Optional[str] = ..., name: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., mime_type: _Optional[str] = ..., size: _Optional[int] = ..., annotations_json: _Optional[bytes] = ..., icons_json: _Optional[bytes] = ..., meta_json: _Optional[bytes] = ..., definition_json: _Optional[bytes] = ...) -> None: ...

class ResourceTemplate(_message.Message):
    __slots__ = ("uri_template", "name", "title", "description", "mime_type", "annotations_json", "icons_json", "meta_json", "definition_json")
    URI_TEMPLATE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_JSON_FIELD_NUMBER: _ClassVar[int]
    ICONS_JSON_FIELD_NUMBER: _ClassVar[int]
    META_JSON_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_JSON_FIELD_NUMBER: _ClassVar[int]
    uri_template: str
    name: str
    title: str
    description: str
    mime_type: str
    annotations_json: bytes
    icons_json: bytes
    meta_json: bytes
    definition_json: bytes
    def __init__(self, uri_template: _Optional[str] = ..., name: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., mime_type: _Optional[str] = ..., annotations_json: _Optional[bytes] = ..., icons_json: _Optional[bytes] = ..., meta_json: _Optional[bytes] = ..., definition_json: _Optional[bytes] = ...) -> None: ...

class Prompt(_message.Message):
    __slots__ = ("name", "title", "description", "arguments", "icons_json", "meta_json", "definition_json")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    ICONS_JSON_FIELD_NUMBER: _ClassVar[int]
    META_JSON_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_JSON_FIELD_NUMBER: _ClassVar[int]
    name: str
    title: str
    description: str
    arguments: _containers.RepeatedCompositeFieldContainer[PromptArgument]
    icons_json: bytes
    meta_json: bytes
    definition_json: bytes
    def __init__(self, name: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., arguments: _Optional[_Iterable[_Union[PromptArgument, _Mapping]]] = ..., icons_json: _Optional[bytes] = ..., meta_json: _Optional[bytes] = ..., definition_json: _Optional[bytes] = ...) -> None: ...

class PromptArgument(_message.Message):
    __slots__ = ("name", "title", "description", "required")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    name: str
    title: str
    description: str
    required: bool
    def __init__(self, name: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., required: bool = ...) -> None: ...

class CallContext(_message.Message):
    __slots__ = ("call_id", "principal", "protocol_version", "client_info_json", "session", "round", "attempt", "want_progress", "log_level", "client_capabilities_json", "traceparent", "tracestate", "meta_json", "endpoint", "transport")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    CLIENT_INFO_JSON_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    WANT_PROGRESS_FIELD_NUMBER: _ClassVar[int]
    LOG_LEVEL_FIELD_NUMBER: _ClassVar[int]
    CLIENT_CAPABILITIES_JSON_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    TRACESTATE_FIELD_NUMBER: _ClassVar[int]
    META_JSON_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    TRANSPORT_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    principal: Principal
    protocol_version: str
    client_info_json: bytes
    session: str
    round: int
    attempt: int
    want_progress: bool
    log_level: str
    client_capabilities_json: bytes
    traceparent: str
    tracestate: str
    meta_json: bytes
    endpoint: str
    transport: str
    def __init__(self, call_id: _Optional[str] = ..., principal: _Optional[_Union[Principal, _Mapping]] = ..., protocol_version: _Optional[str] = ..., client_info_json: _Optional[bytes] = ..., session: _Optional[str] = ..., round: _Optional[int] = ..., attempt: _Optional[int] = ..., want_progress: bool = ..., log_level: _Optional[str] = ..., client_capabilities_json: _Optional[bytes] = ..., traceparent: _Optional[str] = ..., tracestate: _Optional[str] = ..., meta_json: _Optional[bytes] = ..., endpoint: _Optional[str] = ..., transport: _Optional[str] = ...) -> None: ...

class Principal(_message.Message):
    __slots__ = ("subject", "issuer", "scopes", "claims_json")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    ISSUER_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_JSON_FIELD_NUMBER: _ClassVar[int]
    subject: str
    issuer: str
    scopes: _containers.RepeatedScalarFieldContainer[str]
    claims_json: bytes
    def __init__(self, subject: _Optional[str] = ..., issuer: _Optional[str] = ..., scopes: _Optional[_Iterable[str]] = ..., claims_json: _Optional[bytes] = ...) -> None: ...

class CallToolRequest(_message.Message):
    __slots__ = ("context", "name", "arguments_json", "input_responses_json", "state")
    class InputResponsesJsonEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    INPUT_RESPONSES_JSON_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    context: CallContext
    name: str
    arguments_json: bytes
    input_responses_json: _containers.ScalarMap[str, bytes]
    state: bytes
    def __init__(self, context: _Optional[_Union[CallContext, _Mapping]] = ..., name: _Optional[str] = ..., arguments_json: _Optional[bytes] = ..., input_responses_json: _Optional[_Mapping[str, bytes]] = ..., state: _Optional[bytes] = ...) -> None: ...

class CallToolStreamRequest(_message.Message):
    __slots__ = ("call",)
    CALL_FIELD_NUMBER: _ClassVar[int]
    call: CallToolRequest
    def __init__(self, call: _Optional[_Union[CallToolRequest, _Mapping]] = ...) -> None: ...

class Error(_message.Message):
    __slots__ = ("code", "message", "data_json")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DATA_JSON_FIELD_NUMBER: _ClassVar[int]
    code: int
    message: str
    data_json: bytes
    def __init__(self, code: _Optional[int] = ..., message: _Optional[str] = ..., data_json: _Optional[bytes] = ...) -> None: ...

class CallToolResponse(_message.Message):
    __slots__ = ("result", "input_required", "error")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    INPUT_REQUIRED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    result: ToolResult
    input_required: InputRequired
    error: Error
    def __init__(self, result: _Optional[_Union[ToolResult, _Mapping]] = ..., input_required: _Optional[_Union[InputRequired, _Mapping]] = ..., error: _Optional[_Union[Error, _Mapping]] = ...) -> None: ...

class CallToolStreamResponse(_message.Message):
    __slots__ = ("progress", "log", "outcome")
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    progress: Progress
    log: Log
    outcome: CallToolResponse
    def __init__(self, progress: _Optional[_Union[Progress, _Mapping]] = ..., log: _Optional[_Union[Log, _Mapping]] = ..., outcome: _Optional[_Union[CallToolResponse, _Mapping]] = ...) -> None: ...

class ToolResult(_message.Message):
    __slots__ = ("content", "structured_json", "is_error", "meta_json", "result_json")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_JSON_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    META_JSON_FIELD_NUMBER: _ClassVar[int]
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    content: _containers.RepeatedCompositeFieldContainer[Content]
    structured_json: bytes
    is_error: bool
    meta_json: bytes
    result_json: bytes
    def __init__(self, content: _Optional[_Iterable[_Union[Content, _Mapping]]] = ..., structured_json: _Optional[bytes] = ..., is_error: bool = ..., meta_json: _Optional[bytes] = ..., result_json: _Optional[bytes] = ...) -> None: ...

class InputRequired(_message.Message):
    __slots__ = ("requests", "state", "expires_after", "single_use", "sticky")
    REQUESTS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AFTER_FIELD_NUMBER: _ClassVar[int]
    SINGLE_USE_FIELD_NUMBER: _ClassVar[int]
    STICKY_FIELD_NUMBER: _ClassVar[int]
    requests: _containers.RepeatedCompositeFieldContainer[InputRequest]
    state: bytes
    expires_after: _duration_pb2.Duration
    single_use: bool
    sticky: bool
    def __init__(self, requests: _Optional[_Iterable[_Union[InputRequest, _Mapping]]] = ..., state: _Optional[bytes] = ..., expires_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., single_use: bool = ..., sticky: bool = ...) -> None: ...

class InputRequest(_message.Message):
    __slots__ = ("key", "method", "params_json")
    KEY_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    PARAMS_JSON_FIELD_NUMBER: _ClassVar[int]
    key: str
    method: str
    params_json: bytes
    def __init__(self, key: _Optional[str] = ..., method: _Optional[str] = ..., params_json: _Optional[bytes] = ...) -> None: ...

class Progress(_message.Message):
    __slots__ = ("progress", "total", "message")
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    progress: float
    total: float
    message: str
    def __init__(self, progress: _Optional[float] = ..., total: _Optional[float] = ..., message: _Optional[str] = ...) -> None: ...

class Log(_message.Message):
    __slots__ = ("level", "logger", "data_json")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    LOGGER_FIELD_NUMBER: _ClassVar[int]
    DATA_JSON_FIELD_NUMBER: _ClassVar[int]
    level: str
    logger: str
    data_json: bytes
    def __init__(self, level: _Optional[str] = ..., logger: _Optional[str] = ..., data_json: _Optional[bytes] = ...) -> None: ...

class Content(_message.Message):
    __slots__ = ("text", "image", "audio", "resource_link", "resource", "content_json", "annotations_json", "meta_json")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    AUDIO_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_LINK_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_JSON_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_JSON_FIELD_NUMBER: _ClassVar[int]
    META_JSON_FIELD_NUMBER: _ClassVar[int]
    text: str
    image: Blob
    audio: Blob
    resource_link: Resource
    resource: ResourceContents
    content_json: bytes
    annotations_json: bytes
    meta_json: bytes
    def __init__(self, text: _Optional[str] = ..., image: _Optional[_Union[Blob, _Mapping]] = ..., audio: _Optional[_Union[Blob, _Mapping]] = ..., resource_link: _Optional[_Union[Resource, _Mapping]] = ..., resource: _Optional[_Union[ResourceContents, _Mapping]] = ..., content_json: _Optional[bytes] = ..., annotations_json: _Optional[bytes] = ..., meta_json: _Optional[bytes] = ...) -> None: ...

class Blob(_message.Message):
    __slots__ = ("data", "mime_type")
    DATA_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    mime_type: str
    def __init__(self, data: _Optional[bytes] = ..., mime_type: _Optional[str] = ...) -> None: ...

class ResourceContents(_message.Message):
    __slots__ = ("uri", "mime_type", "text", "blob", "meta_json")
    URI_FIELD_NUMBER: _ClassVar[int]
    MIME_TYPE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    BLOB_FIELD_NUMBER: _ClassVar[int]
    META_JSON_FIELD_NUMBER: _ClassVar[int]
    uri: str
    mime_type: str
    text: str
    blob: bytes
    meta_json: bytes
    def __init__(self, uri: _Optional[str] = ..., mime_type: _Optional[str] = ..., text: _Optional[str] = ..., blob: _Optional[bytes] = ..., meta_json: _Optional[bytes] = ...) -> None: ...

class ReadResourceRequest(_message.Message):
    __slots__ = ("context", "uri", "input_responses_json", "state")
    class InputResponsesJsonEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    INPUT_RESPONSES_JSON_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    context: CallContext
    uri: str
    input_responses_json: _containers.ScalarMap[str, bytes]
    state: bytes
    def __init__(self, context: _Optional[_Union[CallContext, _Mapping]] = ..., uri: _Optional[str] = ..., input_responses_json: _Optional[_Mapping[str, bytes]] = ..., state: _Optional[bytes] = ...) -> None: ...

class ReadResourceResponse(_message.Message):
    __slots__ = ("result", "input_required", "error")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    INPUT_REQUIRED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    result: ReadResourceResult
    input_required: InputRequired
    error: Error
    def __init__(self, result: _Optional[_Union[ReadResourceResult, _Mapping]] = ..., input_required: _Optional[_Union[InputRequired, _Mapping]] = ..., error: _Optional[_Union[Error, _Mapping]] = ...) -> None: ...

class ReadResourceResult(_message.Message):
    __slots__ = ("contents", "cache", "meta_json", "result_json")
    CONTENTS_FIELD_NUMBER: _ClassVar[int]
    CACHE_FIELD_NUMBER: _ClassVar[int]
    META_JSON_FIELD_NUMBER: _ClassVar[int]
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    contents: _containers.RepeatedCompositeFieldContainer[ResourceContents]
    cache: CacheHint
    meta_json: bytes
    result_json: bytes
    def __init__(self, contents: _Optional[_Iterable[_Union[ResourceContents, _Mapping]]] = ..., cache: _Optional[_Union[CacheHint, _Mapping]] = ..., meta_json: _Optional[bytes] = ..., result_json: _Optional[bytes] = ...) -> None: ...

class GetPromptRequest(_message.Message):
    __slots__ = ("context", "name", "arguments", "input_responses_json", "state")
    class ArgumentsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class InputResponsesJsonEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bytes
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bytes] = ...) -> None: ...
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    INPUT_RESPONSES_JSON_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    context: CallContext
    name: str
    arguments: _containers.ScalarMap[str, str]
    input_responses_json: _containers.ScalarMap[str, bytes]
    state: bytes
    def __init__(self, context: _Optional[_Union[CallContext, _Mapping]] = ..., name: _Optional[str] = ..., arguments: _Optional[_Mapping[str, str]] = ..., input_responses_json: _Optional[_Mapping[str, bytes]] = ..., state: _Optional[bytes] = ...) -> None: ...

class GetPromptResponse(_message.Message):
    __slots__ = ("result", "input_required", "error")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    INPUT_REQUIRED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    result: GetPromptResult
    input_required: InputRequired
    error: Error
    def __init__(self, result: _Optional[_Union[GetPromptResult, _Mapping]] = ..., input_required: _Optional[_Union[InputRequired, _Mapping]] = ..., error: _Optional[_Union[Error, _Mapping]] = ...) -> None: ...

class GetPromptResult(_message.Message):
    __slots__ = ("description", "messages", "meta_json", "result_json")
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    META_JSON_FIELD_NUMBER: _ClassVar[int]
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    description: str
    messages: _containers.RepeatedCompositeFieldContainer[PromptMessage]
    meta_json: bytes
    result_json: bytes
    def __init__(self, description: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[PromptMessage, _Mapping]]] = ..., meta_json: _Optional[bytes] = ..., result_json: _Optional[bytes] = ...) -> None: ...

class PromptMessage(_message.Message):
    __slots__ = ("role", "content")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    role: str
    content: Content
    def __init__(self, role: _Optional[str] = ..., content: _Optional[_Union[Content, _Mapping]] = ...) -> None: ...

class CompleteRequest(_message.Message):
    __slots__ = ("context", "reference", "argument_name", "argument_value", "context_arguments")
    class ContextArgumentsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    ARGUMENT_NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENT_VALUE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    context: CallContext
    reference: PrimitiveRef
    argument_name: str
    argument_value: str
    context_arguments: _containers.ScalarMap[str, str]
    def __init__(self, context: _Optional[_Union[CallContext, _Mapping]] = ..., reference: _Optional[_Union[PrimitiveRef, _Mapping]] = ..., argument_name: _Optional[str] = ..., argument_value: _Optional[str] = ..., context_arguments: _Optional[_Mapping[str, str]] = ...) -> None: ...

class CompleteResponse(_message.Message):
    __slots__ = ("result", "error")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    result: Completion
    error: Error
    def __init__(self, result: _Optional[_Union[Completion, _Mapping]] = ..., error: _Optional[_Union[Error, _Mapping]] = ...) -> None: ...

class Completion(_message.Message):
    __slots__ = ("values", "total", "has_more")
    VALUES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    HAS_MORE_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[str]
    total: int
    has_more: bool
    def __init__(self, values: _Optional[_Iterable[str]] = ..., total: _Optional[int] = ..., has_more: bool = ...) -> None: ...

class PrimitiveRef(_message.Message):
    __slots__ = ("kind", "name")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[PrimitiveRef.Kind]
        KIND_TOOL: _ClassVar[PrimitiveRef.Kind]
        KIND_RESOURCE: _ClassVar[PrimitiveRef.Kind]
        KIND_RESOURCE_TEMPLATE: _ClassVar[PrimitiveRef.Kind]
        KIND_PROMPT: _ClassVar[PrimitiveRef.Kind]
    KIND_UNSPECIFIED: PrimitiveRef.Kind
    KIND_TOOL: PrimitiveRef.Kind
    KIND_RESOURCE: PrimitiveRef.Kind
    KIND_RESOURCE_TEMPLATE: PrimitiveRef.Kind
    KIND_PROMPT: PrimitiveRef.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    kind: PrimitiveRef.Kind
    name: str
    def __init__(self, kind: _Optional[_Union[PrimitiveRef.Kind, str]] = ..., name: _Optional[str] = ...) -> None: ...

class ShouldRegisterRequest(_message.Message):
    __slots__ = ("context", "primitives")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    PRIMITIVES_FIELD_NUMBER: _ClassVar[int]
    context: CallContext
    primitives: _containers.RepeatedCompositeFieldContainer[PrimitiveRef]
    def __init__(self, context: _Optional[_Union[CallContext, _Mapping]] = ..., primitives: _Optional[_Iterable[_Union[PrimitiveRef, _Mapping]]] = ...) -> None: ...

class ShouldRegisterResponse(_message.Message):
    __slots__ = ("register", "cache_for")
    REGISTER_FIELD_NUMBER: _ClassVar[int]
    CACHE_FOR_FIELD_NUMBER: _ClassVar[int]
    register: _containers.RepeatedScalarFieldContainer[bool]
    cache_for: _duration_pb2.Duration
    def __init__(self, register: _Optional[_Iterable[bool]] = ..., cache_for: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class AuthorizeRequest(_message.Message):
    __slots__ = ("context", "purpose", "primitives", "arguments_json")
    class Purpose(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        PURPOSE_UNSPECIFIED: _ClassVar[AuthorizeRequest.Purpose]
        PURPOSE_LIST: _ClassVar[AuthorizeRequest.Purpose]
        PURPOSE_USE: _ClassVar[AuthorizeRequest.Purpose]
    PURPOSE_UNSPECIFIED: AuthorizeRequest.Purpose
    PURPOSE_LIST: AuthorizeRequest.Purpose
    PURPOSE_USE: AuthorizeRequest.Purpose
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    PRIMITIVES_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    context: CallContext
    purpose: AuthorizeRequest.Purpose
    primitives: _containers.RepeatedCompositeFieldContainer[PrimitiveRef]
    arguments_json: bytes
    def __init__(self, context: _Optional[_Union[CallContext, _Mapping]] = ..., purpose: _Optional[_Union[AuthorizeRequest.Purpose, str]] = ..., primitives: _Optional[_Iterable[_Union[PrimitiveRef, _Mapping]]] = ..., arguments_json: _Optional[bytes] = ...) -> None: ...

class AuthorizeResponse(_message.Message):
    __slots__ = ("verdicts", "cache_for")
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    CACHE_FOR_FIELD_NUMBER: _ClassVar[int]
    verdicts: _containers.RepeatedCompositeFieldContainer[Verdict]
    cache_for: _duration_pb2.Duration
    def __init__(self, verdicts: _Optional[_Iterable[_Union[Verdict, _Mapping]]] = ..., cache_for: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class Verdict(_message.Message):
    __slots__ = ("decision", "reason", "required_scopes")
    class Decision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DECISION_UNSPECIFIED: _ClassVar[Verdict.Decision]
        DECISION_ALLOW: _ClassVar[Verdict.Decision]
        DECISION_DENY: _ClassVar[Verdict.Decision]
    DECISION_UNSPECIFIED: Verdict.Decision
    DECISION_ALLOW: Verdict.Decision
    DECISION_DENY: Verdict.Decision
    DECISION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_SCOPES_FIELD_NUMBER: _ClassVar[int]
    decision: Verdict.Decision
    reason: str
    required_scopes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, decision: _Optional[_Union[Verdict.Decision, str]] = ..., reason: _Optional[str] = ..., required_scopes: _Optional[_Iterable[str]] = ...) -> None: ...
